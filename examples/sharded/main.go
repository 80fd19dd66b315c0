// The command sharded spreads users and their posts over shard databases. Every
// ID has its shard in the lowest bits: whoever has the ID of a user or a post
// knows which database it is in, without a table that says so, and a user's posts
// are in the user's database, so that one query can join them.
//
//	oddeven migrate up --shard-bits 4 …
//	ODDEVEN_SERVERS='app:…@tcp(db1:3306)/oddeven app:…@tcp(db2:3306)/oddeven' \
//	SHARDS='app:…@tcp(db3:3306)/blog app:…@tcp(db4:3306)/blog' \
//	go run ./examples/sharded
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
)

const (
	users        = 40
	postsPerUser = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, strings.Fields(os.Getenv("ODDEVEN_SERVERS")), strings.Fields(os.Getenv("SHARDS")), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes users and posts, and reads each post again by its ID alone.
func run(ctx context.Context, servers, shards []string, out io.Writer) (err error) {
	client, err := oddeven.Open(ctx, oddeven.Config{
		DSNs:    servers,
		Segment: segment.Config{Create: true}, // the sequences, when the first process starts
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	b, err := openBlog(ctx, client, shards)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()

	var posts []oddeven.ID
	for i := range users {
		user, err := b.addUser(ctx, fmt.Sprintf("user %d", i))
		if err != nil {
			return err
		}
		for j := range postsPerUser {
			post, err := b.addPost(ctx, user, fmt.Sprintf("post %d of user %d", j, i))
			if err != nil {
				return err
			}
			posts = append(posts, post)
		}
	}
	for i, post := range posts {
		title, author, err := b.post(ctx, post)
		if err != nil {
			return fmt.Errorf("post %s: %w", post, err)
		}
		if want := fmt.Sprintf("post %d of %s", i%postsPerUser, author); title != want {
			return fmt.Errorf("post %s is %q and not %q", post, title, want)
		}
	}
	return b.report(ctx, out)
}
