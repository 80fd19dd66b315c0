-- Segments: the last round reserved of each named sequence. ID = round * increment + offset.
-- +goose Up
CREATE TABLE IF NOT EXISTS `sequences` (
  `name`        VARBINARY(128)   NOT NULL COMMENT 'UTF-8, compared byte by byte',
  `rounds`      BIGINT UNSIGNED  NOT NULL COMMENT 'last round reserved; only ever grows',
  `gen`         BIGINT UNSIGNED  NOT NULL COMMENT 'generation of the server when this row was last leapt',
  `base`        BIGINT UNSIGNED  NOT NULL COMMENT 'clock line: round at birth',
  `birth`       BIGINT           NOT NULL COMMENT 'clock line: Unix seconds',
  `ceiling`     BIGINT UNSIGNED  NOT NULL COMMENT 'IDs, without shard bits, stay at or below it',
  `description` VARCHAR(255)     NOT NULL,
  `hour`        BIGINT UNSIGNED  NOT NULL COMMENT 'hour (Unix time / 3600) of the last refill',
  `hour_round`  BIGINT UNSIGNED  NOT NULL COMMENT 'round reached when that hour began',
  `peak`        BIGINT UNSIGNED  NOT NULL COMMENT 'most rounds reserved in one hour so far',
  `refills`     BIGINT UNSIGNED  NOT NULL COMMENT 'segments reserved so far',
  `reserved`    BIGINT UNSIGNED  NOT NULL DEFAULT 0 COMMENT 'rounds in these segments',
  `start_round` BIGINT UNSIGNED  NOT NULL DEFAULT 0 COMMENT 'round when this row was made; of those since, what is not in reserved was passed over',
  `hour_refills`  BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'refills when hour began',
  `hour_reserved` BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'reserved when hour began',
  `past_refills`  BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'refills in the hour before hour',
  `past_reserved` BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'rounds reserved in the hour before hour',
  `step`        BIGINT UNSIGNED  NOT NULL COMMENT 'rounds asked for by the last refill',
  `refilled_at` DATETIME(6)          NULL COMMENT 'last refill, UTC',
  `refilled_by` VARCHAR(255)     NOT NULL COMMENT 'client of the last refill',
  `created_at`  DATETIME(6)      NOT NULL COMMENT 'UTC',
  `deleted_at`  DATETIME(6)          NULL COMMENT 'tombstone, UTC: the name starts above rounds if it is created again',
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='oddeven: sequences';

-- +goose Down
DROP TABLE IF EXISTS `sequences`;
