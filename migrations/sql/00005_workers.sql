-- Snowflake worker numbers of this server's residue class and their leases.
-- A tick is one unit of the fleet's layout since its epoch.
-- +goose Up
CREATE TABLE IF NOT EXISTS `workers` (
  `number`       INT UNSIGNED     NOT NULL,
  `gen`          BIGINT UNSIGNED  NOT NULL COMMENT 'generation of the server when this row was last written by a fence',
  `holder`       BINARY(16)           NULL COMMENT 'nonce of the lease; kept when the number is parked',
  `from_tick`    BIGINT UNSIGNED  NOT NULL COMMENT 'first tick of the lease',
  `until_tick`   BIGINT UNSIGNED  NOT NULL COMMENT 'first tick after the lease; free when the server clock has reached it',
  `parked_until` BIGINT UNSIGNED  NOT NULL COMMENT 'what the last fence raised until_tick to; 0 if none did',
  `last_tick`    BIGINT UNSIGNED  NOT NULL COMMENT 'last tick known to be used, as of the last renewal',
  `host`         VARCHAR(255)     NOT NULL COMMENT 'of the holder, for people',
  `process`      VARCHAR(255)     NOT NULL COMMENT 'of the holder, for people',
  `granted_at`   DATETIME(6)          NULL COMMENT 'UTC',
  `renewed_at`   DATETIME(6)          NULL COMMENT 'UTC',
  PRIMARY KEY (`number`),
  KEY `workers_free` (`until_tick`, `number`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='oddeven: worker numbers and their leases';

-- +goose Down
DROP TABLE IF EXISTS `workers`;
