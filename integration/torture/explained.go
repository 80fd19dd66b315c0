package main

import "regexp"

// explanation is why torture can't see what mutants of a kind do. The tests named in
// their files, in integration/mutants, kill them all the same: `make mutate`.
type explanation struct {
	mutants *regexp.Regexp
	why     string
}

var explanations = []explanation{
	{regexp.MustCompile(`^(i1-(equal-offsets|other-fleet|same-server-twice)-let-in|i5-facade-lease-of-a-fleet-alike-used)$`), "every client is given the servers of one fleet, each once: there is nothing to refuse"},
	{regexp.MustCompile(`^i1-(segment-)?high-water-not-checked$`), "a server that went back is known by its start before it issues anything; this is what would be left if that were missing"},
	{regexp.MustCompile(`^(i1-residue-not-checked|i1-(increment|offset)-not-proved|i2-(segment-|renewal-)?autocommit-not-proved)$`), "the driver sets global variables, and every session has its own values; nobody changes a session"},
	{regexp.MustCompile(`^i3-(create|bump|repair)-`), "the driver makes the sequences, with the product as it is; operators' commands do not run in the clients"},
	{regexp.MustCompile(`^i3-(((remembered-)?stranger|second-copy)-let-in|heard-of-without-new-generation|segment-floor-after-the-choice)$`), "two copies of a server are never alive at once, which is for an operator to see to; letting one in sooner repeats nothing"},
	{regexp.MustCompile(`^i3-(too-far-behind-.*|held-back-.*|segment-far-.*|not-levelled-counts-as-seen)$`), "nobody writes to the rows by hand and no sequence outruns its clock line, so none is far ahead"},
	{regexp.MustCompile(`^i2-autocommit-not-set$`), "the statements prove it: a session without it issues nothing"},
	{regexp.MustCompile(`^i[35]-(segment-|grant-|release-|renewal-)?gen-not-(proved|raised)$`), "a connection has to outlive a fence for that, and a server that is killed ends all of its connections"},
	{regexp.MustCompile(`^i3-(gen-of-peers-ignored|peers-(margin-left-out|not-told|sequences-ignored|tickets-ignored)|records-not-compared|segment-floor-of-another-generation|fence-without-a-peer-that-answered|server-that-is-out-is-told|later-start-of-an-older-generation-ignored)$`), "what a server is made to forget lies below its clock line, where its own fence is enough, or other clients carry it there; the rest is for second copies"},
	{regexp.MustCompile(`^i3-restart-not-fenced$`), "the records of the peers and the numbers themselves give a server away that was rewound"},
	{regexp.MustCompile(`^i3-sequences-not-leapt$`), "the rows keep their old generation, so that calls are refused and nothing is repeated"},
	{regexp.MustCompile(`^i5-renewal-without-looking-around$`), "two copies of a server are never alive at once"},
	{regexp.MustCompile(`^i3-reason-not-checked-again$`), "two clients fence one start one after the other: numbers jump twice and repeat nothing"},
	{regexp.MustCompile(`^i3-frozen-fence-holds-the-row$`), "a client that is frozen in a fence holds the others up until it goes on, and repeats nothing"},
	{regexp.MustCompile(`^i3-retired-not-compared$`), "no server is retired"},
	{regexp.MustCompile(`^i3-segment-connection-not-proved$`), "nothing between clients and servers exchanges their connections"},
	{regexp.MustCompile(`^i3-used-in-the-second-of-its-start$`), "a server takes longer than a second to start, so it never starts twice in one"},
	{regexp.MustCompile(`^i3-line-at-own-time$`), "the clocks of servers are those of the host, which are not set"},
	{regexp.MustCompile(`^i3-(leap-counts-as-use|leap-rolled-back-counts-as-use)$`), "numbers run ahead of their clock line and repeat nothing; a run of minutes says so, under clock line"},
	{regexp.MustCompile(`^i5-(layout-not-compared|longer-than-parked-for|pace-not-compared|tick-not-compared)$`), "all clients have the layout and the leases of the fleet, and the seconds of servers are ours"},
	{regexp.MustCompile(`^i5-statefile-(boot-not-compared|inode-not-compared|place-not-compared|of-another-fleet|not-locked|rolled-back)$`), "state files stay where they are, each with one process, on a machine that is not started anew"},
	{regexp.MustCompile(`^i5-force-release-misread$`), "no operator releases numbers"},
	{regexp.MustCompile(`^i5-(statefile-stuck-goes-on|stopped-worker-(confirms|renews))$`), "state files can always be written, so no worker stops for that"},
	{regexp.MustCompile(`^i6-(borrows-without-bound|ticks-begin-with-zero)$`), "the IDs are those of the lease all the same, each once"},
	{regexp.MustCompile(`^i6-time-bits-wrap$`), "the time bits of a layout last for decades"},
}

// unseen is why a mutant is not looked for.
func unseen(name string) (why string, explained bool) {
	for _, e := range explanations {
		if e.mutants.MatchString(name) {
			return e.why, true
		}
	}
	return "", false
}
