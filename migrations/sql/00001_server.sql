-- One row: what this server is, and every setting that the whole fleet shares.
-- +goose Up
CREATE TABLE IF NOT EXISTS `server` (
  `id`               TINYINT UNSIGNED NOT NULL COMMENT 'always 1',
  `fleet`            BINARY(16)       NOT NULL COMMENT 'random identity of the fleet, the same on each of its servers',
  `identity`         BINARY(16)       NOT NULL COMMENT 'random identity of this server',
  `server_offset`    INT UNSIGNED     NOT NULL COMMENT 'k: this server owns the numbers congruent to k modulo the increment',
  `increment`        INT UNSIGNED     NOT NULL COMMENT 'n: capacity of the fleet in servers',
  `shard_bits`       TINYINT UNSIGNED NOT NULL COMMENT 'lowest bits of every ID that name a shard',
  `layout`           VARBINARY(200)   NOT NULL COMMENT 'Snowflake layout: fields, unit, epoch',
  `tick_ms`          BIGINT UNSIGNED  NOT NULL COMMENT 'unit of the layout, in milliseconds: length of a tick',
  `epoch_ms`         BIGINT           NOT NULL COMMENT 'epoch of the layout: Unix time of tick 0, in milliseconds',
  `longest_lease_ms` BIGINT UNSIGNED  NOT NULL COMMENT 'longest lease of a worker number, in milliseconds',
  `single_writer`    TINYINT UNSIGNED NOT NULL COMMENT '1: something outside guarantees one live copy of each server',
  `min_client`       INT UNSIGNED     NOT NULL COMMENT 'oldest client protocol that may use this schema',
  `gen`              BIGINT UNSIGNED  NOT NULL COMMENT 'generation, raised by every fence',
  `server_uuid`      VARBINARY(64)    NOT NULL COMMENT 'incarnation: @@server_uuid or @@server_uid',
  `started_at`       BIGINT           NOT NULL COMMENT 'incarnation: start of the server process, Unix seconds of its own clock',
  `fenced_at`        DATETIME(6)          NULL COMMENT 'last fence, UTC',
  `fence_reason`     VARCHAR(255)     NOT NULL,
  `fenced_by`        VARCHAR(255)     NOT NULL COMMENT 'client that ran the last fence',
  `ticket_base`      BIGINT UNSIGNED  NOT NULL COMMENT 'clock line of the tickets: round at birth',
  `ticket_birth`     BIGINT           NOT NULL COMMENT 'clock line of the tickets: Unix seconds',
  `ticket_ceiling`   BIGINT UNSIGNED  NOT NULL COMMENT 'tickets stay at or below it',
  `ticket_hour`      BIGINT UNSIGNED  NOT NULL COMMENT 'hour (Unix time / 3600) that ticket_hour_round belongs to',
  `ticket_hour_round` BIGINT UNSIGNED NOT NULL COMMENT 'round reached when that hour began',
  `ticket_peak`      BIGINT UNSIGNED  NOT NULL COMMENT 'most rounds used in one hour so far',
  `created_at`       DATETIME(6)      NOT NULL COMMENT 'UTC',
  PRIMARY KEY (`id`),
  CONSTRAINT `server_one_row` CHECK (`id` = 1)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='oddeven: this server and its fleet';

-- +goose Down
DROP TABLE IF EXISTS `server`;
