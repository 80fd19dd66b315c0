-- What this server remembers of the other servers of the fleet. Never lowered.
-- +goose Up
CREATE TABLE IF NOT EXISTS `peers` (
  `identity`      BINARY(16)       NOT NULL COMMENT 'identity of the other server',
  `server_offset` INT UNSIGNED     NOT NULL,
  `gen`           BIGINT UNSIGNED  NOT NULL COMMENT 'its highest generation heard of',
  `server_uuid`   VARBINARY(64)    NOT NULL COMMENT 'its incarnation at that generation',
  `started_at`    BIGINT           NOT NULL COMMENT 'its incarnation at that generation, Unix seconds',
  `retired_at`    DATETIME(6)          NULL COMMENT 'an operator declared it dead for ever, UTC',
  `updated_at`    DATETIME(6)      NOT NULL COMMENT 'UTC',
  PRIMARY KEY (`identity`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='oddeven: what is remembered of the other servers';

-- +goose Down
DROP TABLE IF EXISTS `peers`;
