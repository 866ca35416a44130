// Package quirk says in what servers that speak OpenAI's Chat Completions differ
// from each other: a table by their addresses, which declarations go over.
package quirk

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Key names one thing in which servers differ.
type Key string

const (
	MaxTokens   Key = "max-tokens"     // the member that bounds the answer
	StreamUsage Key = "stream-usage"   // whether a stream is asked to say what it used
	SystemRole  Key = "system-role"    // the role of the system prompt
	Thinking    Key = "thinking"       // how it is told how much to think
	Reasoning   Key = "reasoning-back" // the member in which it wants its reasoning back
	Schema      Key = "schema"         // how it is told what the answer has to fit
	CallIDs     Key = "call-ids"       // the ids of tool calls that it takes
)

// The values, by key; the first is that of a server that nobody knows.
const (
	OldMaxTokens = "max_tokens"
	NewMaxTokens = "max_completion_tokens"

	Yes = "yes"
	No  = "no"

	System    = "system"
	Developer = "developer"
	User      = "user"

	Effort = "effort" // reasoning_effort with a level
	Switch = "switch" // thinking: {type: enabled} or disabled
	Never  = "never"  // not at all

	None             = "none"
	ReasoningContent = "reasoning_content"
	ReasoningText    = "reasoning"

	JSONSchema = "json-schema" // response_format with the schema
	JSONObject = "json-object" // response_format for any object; the schema in words
	Words      = "words"       // in words alone

	Any  = "any"
	Nine = "nine" // nine letters and digits
)

// Set is what is unusual about a server. A key that is not there has its first
// value.
type Set map[Key]string

// Keys lists the keys.
func Keys() []Key {
	return []Key{MaxTokens, StreamUsage, SystemRole, Thinking, Reasoning, Schema, CallIDs}
}

// Values lists what a key takes, the usual first; nil: there is no such key.
func Values(k Key) []string {
	switch k {
	case MaxTokens:
		return []string{OldMaxTokens, NewMaxTokens}
	case StreamUsage:
		return []string{Yes, No}
	case SystemRole:
		return []string{System, Developer, User}
	case Thinking:
		return []string{Effort, Switch, Never}
	case Reasoning:
		return []string{None, ReasoningContent, ReasoningText}
	case Schema:
		return []string{JSONSchema, JSONObject, Words}
	case CallIDs:
		return []string{Any, Nine}
	}
	return nil
}

// Get is the value of a key.
func (s Set) Get(k Key) string {
	if v, ok := s[k]; ok {
		return v
	}
	return Values(k)[0]
}

// With returns the set with others over it.
func (s Set) With(over Set) Set {
	all := maps.Clone(s)
	if all == nil {
		all = Set{}
	}
	maps.Copy(all, over)
	return all
}

// Text lists what is unusual, as KEY=VALUE in the order of Keys.
func (s Set) Text() string {
	var list []string
	for _, k := range Keys() {
		if v := s.Get(k); v != Values(k)[0] {
			list = append(list, string(k)+"="+v)
		}
	}
	return strings.Join(list, " ")
}

// known is what is known of hosts, and of all below them. Each was seen in the
// server's documentation or in what it refuses.
var known = []struct {
	hosts  []string
	quirks Set
}{
	{[]string{"api.openai.com", "openai.azure.com", "api.groq.com", "api.cerebras.ai"}, Set{MaxTokens: NewMaxTokens}},
	// It refuses members that it does not know, and says what was used anyway.
	{[]string{"api.mistral.ai"}, Set{StreamUsage: No, CallIDs: Nine}},
	// They refuse a conversation in which their reasoning before a call is missing.
	{[]string{"api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn", "api.z.ai", "open.bigmodel.cn"},
		Set{Thinking: Switch, Reasoning: ReasoningContent, Schema: JSONObject}},
}

// Of returns what is known of the server at an address.
func Of(baseURL string) Set {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil
	}
	host := strings.ToLower(u.Hostname())
	for _, k := range known {
		if slices.ContainsFunc(k.hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) }) {
			return maps.Clone(k.quirks)
		}
	}
	return nil
}
