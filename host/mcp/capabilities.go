package mcp

//lint:file-ignore SA1019 newer versions of the protocol drop logging; clients of those that are spoken here have it

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// capabilities are what clients can ask of us.
func capabilities() *sdk.ServerCapabilities {
	return &sdk.ServerCapabilities{
		Logging:   &sdk.LoggingCapabilities{},
		Tools:     &sdk.ToolCapabilities{ListChanged: true},
		Resources: &sdk.ResourceCapabilities{Subscribe: true},
		Prompts:   &sdk.PromptCapabilities{},
	}
}

// log tells a client that has asked for it what goes on.
func (n *notices) log(level sdk.LoggingLevel, event, text string) {
	data := map[string]string{"session": n.stream, "event": event}
	if text != "" {
		data["text"] = text
	}
	_ = n.client.Log(n.ctx, &sdk.LoggingMessageParams{Logger: "roster", Level: level, Data: data})
}
