package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestCounter(t *testing.T) {
	t.Parallel()
	const columns = "CREATE TABLE `t` (\n  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,\n  `stub` char(1) NOT NULL,\n  PRIMARY KEY (`id`)\n"
	tests := []struct {
		name, definition string
		next             uint64
		passed           int64
	}{
		{"NeverUsed", columns + ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", 0, 0},
		{"MySQL", columns + ") ENGINE=InnoDB AUTO_INCREMENT=72157623227190424 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin", 72157623227190424, 72157623227190423},
		{"MyISAM", columns + ") ENGINE=MyISAM AUTO_INCREMENT=3 DEFAULT CHARSET=latin1", 3, 2},
		{"NotTheComment", columns + ") ENGINE=InnoDB AUTO_INCREMENT=3 COMMENT='\n) ENGINE=InnoDB AUTO_INCREMENT=9'", 3, 2},
		{"OnlyInTheComment", columns + ") ENGINE=InnoDB COMMENT='x AUTO_INCREMENT=9'", 0, 0},
		{"Last", columns + ") ENGINE=InnoDB AUTO_INCREMENT=9223372036854775807", 1<<63 - 1, 1<<63 - 2},
		{"Nothing", "", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			next, err := schema.Counter(tt.definition)
			require.NoError(t, err)
			require.Equal(t, tt.next, next)
			passed, err := schema.Passed(tt.definition)
			require.NoError(t, err)
			require.Equal(t, tt.passed, passed)
		})
	}
}

func TestCounterOutOfRange(t *testing.T) {
	t.Parallel()
	const most = ") ENGINE=InnoDB AUTO_INCREMENT=18446744073709551615"
	next, err := schema.Counter(most)
	require.NoError(t, err)
	require.Equal(t, uint64(1<<64-1), next)
	_, err = schema.Passed(most)
	require.ErrorContains(t, err, "AUTO_INCREMENT=18446744073709551615")
	_, err = schema.Counter(most + "0")
	require.ErrorContains(t, err, "AUTO_INCREMENT=184467440737095516150")
	_, err = schema.Passed(most + "0")
	require.Error(t, err)
}
