package host

import (
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
)

// profileKeys describes a body of a profile's keys, which are those of its dialect.
var profileKeys = Schema{"ProfileKeys", `{
	"type": "object",
	"description": "Keys of a profile, in snake_case or as its file has them, with their values. null takes a key out. GET /schema has all keys of native profiles.",
	"maxProperties": 1000,
	"properties": {
		"provider": {"description": "A text, as for every key that takes one: a number is taken as it is written."},
		"model": {"description": "A text."},
		"tools": {"description": "A list of names."},
		"system_prompt": {"description": "A text."},
		"description": {"description": "A text."}
	}
}`}

// namedKeys is profileKeys with the name that the path does not say.
var namedKeys = Schema{"NamedProfileKeys", `{
	"allOf": [
		{"$ref": "#/components/schemas/ProfileKeys"},
		{"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1, "description": "The profile's name: segments of letters, digits, '.', '_' and '-', joined by '/'."}}}
	]
}`}

const (
	exampleProfile = `{"provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":"You are a fast reviewer."}`
	exampleNamed   = `{"name":"quick","provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":"You are a fast reviewer."}`
)

var profileHeaders = map[string]string{"ETag": taggedHeaders["ETag"], HeaderRevision: "The revision of the profile, which If-Match takes in quotes."}

// What may be wrong with a profile that is sent, or with the one that is there.
const (
	badProfile  = "*"
	noProfile   = "ProfileNotFound InvalidYAML *"
	notWritable = "ReadOnly ExecutingKey"
)

func describeProfiles() map[string]Description {
	dialect := Param{"query", "dialect", "", "The dialect, and with it the folder, of the new file. Without it: the dialect knot in rig/profiles if the body has only provider, model, tools and system_prompt, else roster in profiles."}
	ifAbsent := Param{"header", "If-None-Match", "", "*: a profile that is there answers 412 instead of 409."}
	made := []Reply{{Status: 201, About: "It was made.", Body: created{}, Headers: map[string]string{"Location": "The path of the profile.", HeaderRevision: profileHeaders[HeaderRevision], "ETag": taggedHeaders["ETag"]}}}
	madeErrors := map[int]string{400: badProfile, 403: notWritable, 409: "*", 412: "ProfileExists"}
	one := []Reply{
		{Status: 200, About: "The profile.", Body: OneOf{profileBrief{}, view.Profile{}}, Headers: profileHeaders},
		{Status: 304, About: "The client has it: If-None-Match names its ETag."},
	}
	return map[string]Description{
		"listProfiles": {
			Tag: "profiles", Summary: "List the profiles", About: "Sorted by name. What did not load is at GET /profiles/-/diagnostics; the header " + HeaderDiagnostics + " counts it.",
			Params: []Param{verboseParam, ifNoneMatch},
			Replies: []Reply{
				{Status: 200, About: "In brief, or with verbose in full.", Body: OneOf{[]profileBrief{}, []view.Profile{}}, Headers: map[string]string{"ETag": taggedHeaders["ETag"], HeaderDiagnostics: "How many diagnostics there are."}},
				{Status: 304, About: "The client has it: If-None-Match names its ETag."},
			},
		},
		"getProfile": {
			Tag: "profiles", Summary: "Show a profile", Params: []Param{nameParam, verboseParam, ifNoneMatch},
			Replies: one, Errors: map[int]string{404: noProfile},
		},
		"createNamedProfile": {
			Tag: "profiles", Summary: "Make a profile that the body names", Params: []Param{dialect, ifAbsent},
			Body: namedKeys, Example: exampleNamed, Replies: made, Errors: madeErrors,
		},
		"createProfile": {
			Tag: "profiles", Summary: "Make a profile", Params: []Param{nameParam, dialect, ifAbsent},
			Body: profileKeys, Example: exampleProfile, Replies: made, Errors: madeErrors,
		},
		"putProfile": {
			Tag: "profiles", Summary: "Change keys of a profile", About: "The keys that are not named stay as they are, and so do the file's comments.",
			Params: []Param{nameParam, {"header", "If-Match", "required", ifMatchParam.About}},
			Body:   profileKeys, Example: `{"temperature":0.2}`,
			Replies: []Reply{{Status: 200, About: "The profile as it is now.", Body: profileBrief{}, Headers: profileHeaders}},
			Errors:  map[int]string{400: badProfile, 403: notWritable, 404: noProfile, 409: "*", 412: "RevisionMismatch", 428: "MissingIfMatch"},
		},
		"deleteProfile": {
			Tag: "profiles", Summary: "Delete a profile", Params: []Param{nameParam, ifMatchParam},
			Replies: []Reply{{Status: 204, About: "It is gone."}},
			Errors:  map[int]string{403: "ReadOnly", 404: noProfile, 409: "*", 412: "RevisionMismatch"},
		},
		"diagnostics": {
			Tag: "profiles", Summary: "List what did not load, and why", Params: []Param{ifNoneMatch},
			Replies: cached("All diagnostics of the catalog.", []profile.Diagnostic{}),
		},
		"checkProfile": {
			Tag: "profiles", Summary: "Check the text of a profile", About: "Says what the catalog would make of a file. Nothing is saved or run.",
			Body: checkBody{}, Example: `{"path":"profiles/new.md","text":"---\nname: new\ndescription: d\n---\nBe brief.\n"}`,
			Replies: ok("What would become of it.", view.Checked{}),
		},
	}
}

func describeHistory() map[string]Description {
	at := Param{"query", "path", "required;min=1", "The file, as diagnostics name it."}
	text := map[string]string{"ETag": "Names the text: If-Match takes it.", HeaderRevision: profileHeaders[HeaderRevision]}
	return map[string]Description{
		"profileSource": {
			Tag: "profiles", Summary: "Show the text of a file of profiles", About: "Also of one that does not load. Of a directory profile it is config.json.",
			Params: []Param{at, ifNoneMatch},
			Replies: []Reply{
				{Status: 200, About: "The text, and what the catalog makes of it.", Body: Source{}, Headers: text},
				{Status: 304, About: "The client has it: If-None-Match names its ETag."},
			},
			Errors: map[int]string{403: "ReadOnly", 404: "ProfileNotFound"},
		},
		"putProfileSource": {
			Tag: "profiles", Summary: "Write the text of a file of profiles", About: "Whole and at once; what it held is kept in the history. No file is made.",
			Params: []Param{at, {"header", "If-Match", "required", "The ETag of the text that the client has read; * is any."}, {"query", "force", "enum=true|false|1|0|", "Save also what does not load."}},
			Body:   sourceBody{}, Example: `{"text":"---\nname: made\ndescription: d\nmodel: fake/text\n---\nBe brief.\n"}`,
			Replies: []Reply{{Status: 200, About: "The text as it is now.", Body: Source{}, Headers: text}},
			Errors:  map[int]string{400: badProfile, 403: notWritable, 404: "ProfileNotFound", 409: "*", 412: "RevisionMismatch", 428: "MissingIfMatch"},
		},
		"rollbackProfile": {
			Tag: "profiles", Summary: "Make an earlier version current", Params: []Param{nameParam, ifMatchParam},
			Body: rollbackBody{}, Example: `{"revision":"1f0c2a"}`,
			Replies: []Reply{{Status: 200, About: "The profile as it is now.", Body: profileBrief{}, Headers: profileHeaders}},
			Errors:  map[int]string{400: badProfile, 403: notWritable, 404: noProfile, 409: "*", 412: "RevisionMismatch"},
		},
		"profileHistory": {
			Tag: "profiles", Summary: "List the versions of a profile", Params: []Param{nameParam, ifNoneMatch},
			Replies: []Reply{
				{Status: 200, About: "The newest first.", Body: []view.Version{}, Headers: map[string]string{"ETag": taggedHeaders["ETag"], HeaderNote: "What of the history could not be read."}},
				{Status: 304, About: "The client has it: If-None-Match names its ETag."},
			},
			Errors: map[int]string{404: noProfile, 409: "*"},
		},
		"profileDiff": {
			Tag: "profiles", Summary: "Show what changed between two versions of a profile", About: "Both are revisions of the history, or the start of one.",
			Params: []Param{
				nameParam, {"query", "from", "", "The older one; without it the one before the other."},
				{"query", "to", "", "The newer one; without it what the file holds."}, ifNoneMatch,
			},
			Replies: cached("The change, as a unified diff.", diffBody{}),
			Errors:  map[int]string{404: "*", 409: "*"},
		},
		"profilePrompt": {
			Tag: "profiles", Summary: "Show the prompt of a profile", About: "The head of every request of its runs, layer by layer, as it would be sent now.",
			Params: []Param{nameParam, ifNoneMatch}, Replies: cached("The prompt.", view.Prompt{}),
			Errors: map[int]string{400: "*", 404: noProfile},
		},
		"profilePermit": {
			Tag: "profiles", Summary: "Judge a tool call", About: "Says what would become of a call, without making it.",
			Params:  []Param{nameParam, {"query", "tool", "required;min=1", "The tool of the call."}, {"query", "subject", "", "What it is used on: a path, a command line, a URL."}, ifNoneMatch},
			Replies: cached("The decision, and the rule that made it.", view.Permit{}), Errors: map[int]string{400: "*", 404: noProfile},
		},
		"profileTools": {
			Tag: "profiles", Summary: "List the tools of a profile", About: "Those that its model is told of, and those withheld, with why.",
			Params: []Param{nameParam, ifNoneMatch}, Replies: cached("The tools.", view.Tools{}), Errors: map[int]string{400: "*", 404: noProfile},
		},
		"profileTargets": {
			Tag: "profiles", Summary: "List whom a profile may give tasks to",
			Params: []Param{nameParam, ifNoneMatch}, Replies: cached("The profiles that it may call.", []view.Target{}), Errors: map[int]string{400: "*", 404: noProfile},
		},
	}
}

func describeSkills() map[string]Description {
	skill := Param{"path", "name", "required", "The skill's name."}
	return map[string]Description{
		"listSkills": {
			Tag: "skills", Summary: "List the skills", Params: []Param{ofProfile, ifNoneMatch},
			Replies: cached("The skills.", []view.Skill{}), Errors: map[int]string{400: "*", 404: noProfile, 409: "*"},
		},
		"getSkill": {
			Tag: "skills", Summary: "Show a skill", Params: []Param{skill, ifNoneMatch},
			Replies: cached("The skill with its text.", view.Skill{}), Errors: map[int]string{404: "SkillNotFound"},
		},
		"putSkill": {
			Tag: "skills", Summary: "Write a skill", Params: []Param{skill, {"header", "If-Match", "", "The revision of the skill that the client has read; without it the skill is new."}},
			Body: skillBody{}, Example: `{"text":"---\nname: tidy\ndescription: Tidies up.\n---\nPut things away.\n"}`,
			Replies: []Reply{
				{Status: 200, About: "It was changed.", Body: view.Skill{}, Headers: map[string]string{HeaderRevision: "Its revision."}},
				{Status: 201, About: "It was made.", Body: view.Skill{}, Headers: map[string]string{"Location": "The path of the skill.", HeaderRevision: "Its revision."}},
			},
			Errors: map[int]string{400: "*", 403: "*", 404: "SkillNotFound", 409: "*", 412: "*"},
		},
		"listCommands": {
			Tag: "skills", Summary: "List the commands", About: "The prompts that are called by a name, with command in the body of /chat.",
			Replies: ok("The commands, and what is wrong with files of such.", view.Commands{}),
		},
	}
}
