-- Flickr's ticket table with its two keys exchanged: a REPLACE then leaves no
-- delete-marked entry behind in a unique secondary index.
-- +goose Up
CREATE TABLE IF NOT EXISTS `tickets` (
  `stub` INT UNSIGNED    NOT NULL COMMENT 'which row a connection replaces; 0 carries the leaps',
  `id`   BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'the last ticket issued on this stub',
  PRIMARY KEY (`stub`),
  KEY `tickets_id` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='oddeven: tickets';

-- +goose Down
DROP TABLE IF EXISTS `tickets`;
