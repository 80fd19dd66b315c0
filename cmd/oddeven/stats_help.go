package main

const statsHelp = `Show servers, worker numbers and sequences of a fleet, or of its sequences those
named: what is allocated, how fast, where, how healthy, and when it runs out.
Nothing of it costs the applications a statement. Like every client, the command
fences a server that was restarted. Exit code 1 if a server does not answer or
may not issue, or a name is unknown; what is known is shown all the same.

Numbers are of IDs reserved: what processes have in memory counts as used. The
hours are those of UTC, by each server's clock; "12.3k/12" is 12,300 IDs in 12
refills. The present rate is what was reserved since the last full hour began,
over the time since, or since the sequence was made. A forecast takes that rate,
added up over the servers, and knows nothing of jumps after restarts.

  TO LINE   how far a server may go before it is past its clock line; beyond it
            a server that forgets is protected by what others know, and by an
            hour's use
  AGO       since the last refill
  LAG       rounds behind the server that is furthest; a round is one ID of each
            server, of which a sequence uses one
  gaps      rounds that no server reserved: jumps after restarts, and bumps

k, M, G, T, P and E are thousand, million and so on. State words are coloured on
a terminal, unless NO_COLOR is set. Deleted sequences are shown when named.

--watch draws the table anew every second, on a terminal only, and adds what was
reserved per second in the last half minute. Ctrl-C ends it with exit code 0.

With -o json the result is an object. What is said to be so if known, and only
that, is left out otherwise:

  time                  of the picture, by the server that answered first;
                        RFC 3339 like all times
  fleet, increment, layout
                        identity and settings, if known
  shard_bits            lowest bits of every ID that name a shard
  snowflake_until       when the time bits of Snowflake IDs end, if known
  servers_up            how many servers answer and may issue
  workers               numbers of all servers:
    total, leased, parked, free
  servers               a list:
    server              host:port/database
    state               ok, to be fenced, read-only, out, unreachable, not read
    error               what is wrong, if known
    highest_ticket      the largest ticket that it may have issued
    tickets_to_line     until its clock line; negative: past it
    offset, gen, started_at, ticket_ceiling, workers
                        if known
    fenced_at, fence_reason, fenced_by
                        the last fence, if known
  sequences             a list:
    name                that of the sequence
    state               ok, partly known, past line, ends soon (within a year),
                        deleted, exhausted, to be mended
    forecast            runs out, never (not in 200 years), idle, exhausted,
                        deleted
    runs_out_at         if known
    highest_id, ceiling, ids_left, ids_reserved
    used                of the ceiling, 0 to 1
    ids_per_second      the present rate
    this_hour, last_hour
                        what was reserved in them:
      ids, refills
    peak_hour_ids       each server's best hour, added up
    gap_rounds          see gaps, if known
    servers             a list:
      server, answered, problems, highest_id, ids_reserved, refills
      step              rounds that the last refill asked for
      ids_per_second, this_hour, last_hour, peak_hour_ids
                        those of this server
      share             of all IDs reserved, 0 to 1
      rounds_behind     see LAG
      rounds_passed_over
                        also those that other servers reserved
      rounds_to_line    see TO LINE
      offset, gen, refilled_at, refilled_by
                        if known

With -o csv there is a header, and a line for each sequence and server, with the
fields of the same names; this_hour_ids is ids in this_hour, and so on. What is
not known is empty.`
