package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/oddeven/oddeven/internal/dsn"
)

// userinfo is what a DSN begins with, up to the last @ of a word.
var userinfo = regexp.MustCompile(`[^\s:@"'=]+:[^\s"']*@`)

// told is an error as people are told of it: without passwords, and without what a
// terminal would obey, because some of it comes from rows that anybody may have
// written. args are texts that may hold a password.
func told(err error, args ...string) string { return obedient(redact(err.Error(), args)) }

// redact blots passwords out of a message. They get there when somebody writes
// a DSN in the wrong place of the command line, which the message then quotes.
func redact(message string, args []string) string {
	for _, arg := range args {
		message = blot(message, arg)
		for word := range strings.FieldsSeq(arg) {
			message = blot(message, word)
		}
	}
	return userinfo.ReplaceAllStringFunc(message, func(found string) string {
		if strings.HasPrefix(dsn.Form, found) {
			return found // the example in our own messages
		}
		user, _, _ := strings.Cut(found, ":")
		return user + ":***@"
	})
}

// blot replaces the password of a DSN wherever it stands, also quoted.
func blot(message, text string) string {
	at := strings.LastIndex(text, "@")
	colon := strings.Index(text, ":")
	if colon < 0 || at <= colon+1 {
		return message
	}
	secret := text[colon+1 : at]
	escaped := strconv.Quote(secret)
	message = strings.ReplaceAll(message, secret, "***")
	return strings.ReplaceAll(message, escaped[1:len(escaped)-1], "***")
}
