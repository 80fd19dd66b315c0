package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	_ "github.com/go-sql-driver/mysql" // the driver of the shard databases

	"github.com/oddeven/oddeven"
)

const (
	createUsers = "CREATE TABLE IF NOT EXISTS users (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(100) NOT NULL)"
	createPosts = "CREATE TABLE IF NOT EXISTS posts (id BIGINT NOT NULL PRIMARY KEY, author BIGINT NOT NULL, title VARCHAR(100) NOT NULL, KEY author (author))"
	insertUser  = "INSERT INTO users (id, name) VALUES (?, ?)"
	insertPost  = "INSERT INTO posts (id, author, title) VALUES (?, ?, ?)"
	// User and post are in the same database.
	selectPost = "SELECT posts.title, users.name FROM posts JOIN users ON users.id = posts.author WHERE posts.id = ?"
	countRows  = "SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM posts)"
)

// blog is users and posts in shard databases.
type blog struct {
	client       *oddeven.Client
	users, posts *oddeven.Generator
	shards       []*sql.DB
}

// openBlog connects to the shard databases and makes their tables.
func openBlog(ctx context.Context, client *oddeven.Client, dsns []string) (*blog, error) {
	if n := 1 << client.ShardBits(); len(dsns) < 1 || len(dsns) > n {
		return nil, fmt.Errorf("%d shard databases; the fleet has %d shard bits, so give 1 to %d", len(dsns), client.ShardBits(), n)
	}
	b := &blog{client: client}
	var err error
	if b.users, err = client.Sequence(ctx, "users"); err != nil {
		return nil, err
	}
	if b.posts, err = client.Sequence(ctx, "posts"); err != nil {
		return nil, err
	}
	for _, dsn := range dsns {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, errors.Join(errors.New("a DSN of SHARDS is wrong"), b.close()) // err may quote the password
		}
		b.shards = append(b.shards, db)
		for _, query := range []string{createUsers, createPosts} {
			if _, err := db.ExecContext(ctx, query); err != nil {
				return nil, errors.Join(err, b.close())
			}
		}
	}
	return b, nil
}

// database is where the row with an ID is: there are as many shards as the bits
// hold, and each is in one of the databases. Moving a shard to a new database
// changes this function and no ID.
func (b *blog) database(id oddeven.ID) *sql.DB {
	return b.shards[id.Shard(b.client.ShardBits())%int64(len(b.shards))]
}

// addUser puts a user into a shard that is drawn by lot.
func (b *blog) addUser(ctx context.Context, name string) (oddeven.ID, error) {
	id, err := b.users.NextFor(ctx, rand.Int64N(1<<b.client.ShardBits()))
	if err != nil {
		return 0, err
	}
	_, err = b.database(id).ExecContext(ctx, insertUser, id, name)
	return id, err
}

// addPost puts a post into the shard of its author.
func (b *blog) addPost(ctx context.Context, author oddeven.ID, title string) (oddeven.ID, error) {
	id, err := b.posts.NextFor(ctx, author.Shard(b.client.ShardBits()))
	if err != nil {
		return 0, err
	}
	_, err = b.database(id).ExecContext(ctx, insertPost, id, author, title)
	return id, err
}

// post reads a post and the name of its author.
func (b *blog) post(ctx context.Context, id oddeven.ID) (title, author string, err error) {
	err = b.database(id).QueryRowContext(ctx, selectPost, id).Scan(&title, &author)
	return title, author, err
}

// report says how many rows each database has.
func (b *blog) report(ctx context.Context, out io.Writer) error {
	for i, db := range b.shards {
		var users, posts int
		if err := db.QueryRowContext(ctx, countRows).Scan(&users, &posts); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "database %d: %d users, %d posts\n", i+1, users, posts); err != nil {
			return err
		}
	}
	return nil
}

func (b *blog) close() error {
	var errs []error
	for _, db := range b.shards {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}
