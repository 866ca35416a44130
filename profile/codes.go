package profile

import (
	"errors"
	"slices"

	"github.com/rosterrun/roster/source"
)

// The codes of diagnostics. They are stable: a code never changes its meaning.
const (
	CodeMissingFrontmatter = "P101"
	CodeUnclosed           = "P102"
	CodeInvalidYAML        = "P103"
	CodeDuplicateKey       = "P104"
	CodeNotUTF8            = "P105"
	CodeTooLarge           = "P106"
	CodeTooDeep            = "P107"
	CodeBeforeOpener       = "P108"
	CodeNotAMap            = "P109"

	CodeWrongType       = "P110"
	CodeNotAllowed      = "P111"
	CodeUnknownKey      = "P112"
	CodeInactiveKey     = "P113"
	CodeInactiveGuard   = "P114"
	CodeJoined          = "P115"
	CodeUnknownTool     = "P116"
	CodeName            = "P117"
	CodeSlug            = "P118"
	CodeNoDescription   = "P119"
	CodeMissingName     = "P120"
	CodeEmptyProvider   = "P121"
	CodeEmptyModel      = "P122"
	CodeNoSystemPrompt  = "P123"
	CodeNoPrompt        = "P124"
	CodeHeadlessAsk     = "P125"
	CodeNeedDescription = "P126"

	CodeIO        = "P130"
	CodeShadowed  = "P131"
	CodeLeaves    = "P132"
	CodeWithheld  = "P133"
	CodeNotLoaded = "P134"
	CodeIgnoreBad = "P135"
	CodeLost      = "P136"

	CodeRepaired   = "P137"
	CodeTabs       = "P138"
	CodeUnindented = "P139"
	CodeAmbiguous  = "P140"
	CodeNotClosed  = "P141"

	CodeOnlyRead   = "P143"
	CodeMiswritten = "P144"

	CodeInvalidTOML = "P148"
	CodeSecret      = "P149"
	CodeReference   = "P150"
	CodeNearest     = "P151"
	CodeCut         = "P152"

	CodeTargetDefault = "P154"
	CodeFolderName    = "P155"
	CodeUserTool      = "P156"
	CodeNoAgents      = "P157"

	CodeSearchCut   = "P160"
	CodeDeepFolder  = "P161"
	CodeKeptGood    = "P162"
	CodeIgnoreCut   = "P163"
	CodeNotSearched = "P164"

	CodeNoParent     = "P166"
	CodeCycle        = "P167"
	CodeBadParent    = "P168"
	CodeParents      = "P169"
	CodeShadowedDeny = "P170"
	CodeAddsToAll    = "P171"

	CodeByHand     = "P176"
	CodeCannotHold = "P177"

	CodeHistory = "P180"
	CodeTwice   = "P181"

	CodeAlmostGuard = "P182"
	CodeAlmostRules = "P183"
	CodeTextInText  = "P184"

	CodeExecuting = "P185"

	CodeBypass   = "P191"
	CodeLaunches = "P192"

	CodeHook = "P213"

	CodeNoProvider = "P223"

	CodeSandboxWall = "P246"
	CodeSandboxLink = "P247"

	CodeKnotAgents   = "P248"
	CodeKnotNoAgent  = "P249"
	CodeEmptyGoal    = "P250"
	CodeNoKnotPrompt = "P251"
	CodeNoStrandDir  = "P252"
	CodeStrandDir    = "P253"
	CodeKnotTwice    = "P254"
	CodeLoom         = "P255"

	CodeNoSearch  = "P256"
	CodeServer    = "P260"
	CodeServerOut = "P261"
	CodeServerKey = "P262"
	CodeNoServer  = "P263"

	CodeNoProducer = "P264"
	CodeKnotTimes  = "P265"
	CodeKnotIdle   = "P266"
	CodeRigCut     = "P267"

	CodeService      = "P270"
	CodeServiceSpec  = "P271"
	CodeServiceTools = "P272"
	CodeNoService    = "P273"
	CodeDocument     = "P277"
	CodeDocumentPart = "P278"

	CodeSkillName        = "P284"
	CodeSkillShadowed    = "P285"
	CodeSkillDescription = "P286"
	CodeNoSkill          = "P287"
	CodeSkillsCut        = "P288"
	CodeSkillsUnoffered  = "P289"
	CodeSkillFile        = "P290"
	CodeSkillInside      = "P291"
	CodeSkillAllows      = "P292"
	CodeSkillPlace       = "P293"

	CodeCommandText     = "P294"
	CodeCommandName     = "P295"
	CodeCommandShadowed = "P296"
	CodeCommandLacks    = "P297"
	CodeCommandUnread   = "P298"
	CodeNoBrowser       = "P304"
	CodeNoKnowledge     = "P305"
	CodePerRequest      = "P309"
)

// Code is one entry of the page that explains the codes.
type Code struct {
	Code     string
	Name     ErrorName // empty when no error has this code
	Severity Severity
	Meaning  string
}

// codes is never written.
var codes = [...]Code{
	{CodeMissingFrontmatter, MissingFrontmatter, SeverityError, "The file does not start with a line of three dashes that opens the frontmatter."},
	{CodeUnclosed, MissingFrontmatter, SeverityError, "No line of three dashes closes the frontmatter."},
	{CodeInvalidYAML, InvalidYAML, SeverityError, "The frontmatter is not valid YAML."},
	{CodeDuplicateKey, InvalidYAML, SeverityError, "A key stands twice in the same map; the place named is the second."},
	{CodeNotUTF8, InvalidFormat, SeverityError, "The file is not UTF-8; the byte offset is named."},
	{CodeTooLarge, InvalidFormat, SeverityError, "The frontmatter is over 64 KiB or the file over 4 MiB."},
	{CodeTooDeep, InvalidYAML, SeverityError, "The frontmatter nests deeper than 100 levels, or expands to too much through aliases."},
	{CodeBeforeOpener, "", SeverityNote, "A byte order mark, blank lines or a comment stand before the frontmatter."},
	{CodeNotAMap, SchemaValidation, SeverityError, "The frontmatter is not a map of keys."},
	{CodeWrongType, SchemaValidation, SeverityError, "A value has another type than its key takes."},
	{CodeNotAllowed, SchemaValidation, SeverityError, "A value is outside the range or the set that its key takes."},
	{CodeUnknownKey, "", SeverityWarning, "A key that no part of roster knows. It is kept and has no effect."},
	{CodeInactiveKey, "", SeverityNote, "A known key that this version keeps and does not act on."},
	{CodeInactiveGuard, "", SeverityWarning, "A known key that would restrict the profile, and that this version does not act on."},
	{CodeJoined, "", SeverityWarning, "A list stands where text is expected; its items were joined with commas."},
	{CodeUnknownTool, "", SeverityWarning, "A tool name that is not built in. It is kept."},
	{CodeName, SchemaValidation, SeverityError, "The name is empty, is a path that leaves its folder, or holds characters that no name may hold."},
	{CodeSlug, "", SeverityNote, "The name does not fit the form of names: a slug is the key and the text became the title."},
	{CodeNoDescription, "", SeverityNote, "The profile has no description, so other agents cannot tell when to delegate to it."},
	{CodeMissingName, MissingName, SeverityError, "The dialect needs a name, and there is none."},
	{CodeEmptyProvider, EmptyProvider, SeverityError, "The provider is missing or blank."},
	{CodeEmptyModel, EmptyModel, SeverityError, "The model is missing or blank."},
	{CodeNoSystemPrompt, MissingSystemPrompt, SeverityError, "The dialect needs a system prompt, and there is neither the key nor a body."},
	{CodeNoPrompt, "", SeverityNote, "The profile has neither a system-prompt nor a body."},
	{CodeHeadlessAsk, SchemaValidation, SeverityError, "The profile asks before it delegates, and nobody can answer where it was loaded."},
	{CodeNeedDescription, SchemaValidation, SeverityError, "The dialect needs a description, and there is none."},
	{CodeIO, IO, SeverityError, "The file could not be read."},
	{CodeShadowed, "", SeverityWarning, "Two files define the same name; the later one wins."},
	{CodeLeaves, "", SeverityWarning, "A link leads out of its source, or is not followed a second time."},
	{CodeWithheld, "", SeverityWarning, "A file that does not load claims the name of a profile in an earlier source; nothing is served under that name."},
	{CodeNotLoaded, ProfileNotFound, SeverityError, "No profile has this name."},
	{CodeIgnoreBad, IO, SeverityWarning, "A .gitignore file could not be read."},
	{CodeLost, "", SeverityWarning, "A field that the target dialect cannot hold was left out of a conversion."},
	{CodeRepaired, "", SeverityWarning, "A value or a key that YAML refuses as it is written was read as text. Quotes make it YAML."},
	{CodeTabs, "", SeverityWarning, "Tabs that indent lines, which YAML refuses, were read as spaces."},
	{CodeUnindented, InvalidYAML, SeverityError, "A line at the left edge of the frontmatter is neither a key nor a comment."},
	{CodeAmbiguous, InvalidYAML, SeverityError, "A value that YAML refuses could mean more than one thing, so it was not repaired."},
	{CodeNotClosed, InvalidYAML, SeverityError, "A quote, a bracket or a brace is not closed."},
	{CodeOnlyRead, InvalidFormat, SeverityError, "The target dialect is only read; no profile can be written in it."},
	{CodeMiswritten, SchemaValidation, SeverityError, "What was written of a profile is refused by its own dialect, or would not be found as it; nothing is written."},
	{CodeInvalidTOML, InvalidFormat, SeverityError, "The file is not valid TOML."},
	{CodeSecret, "", SeverityWarning, "A key or password is written out in the file. It is neither kept nor shown; name an environment variable instead."},
	{CodeReference, SchemaValidation, SeverityError, "A reference names nothing in its file."},
	{CodeNearest, "", SeverityNote, "A value has no equal here; the nearest one is used."},
	{CodeCut, "", SeverityNote, "A block of a prompt is longer than its template allows; the rest is left out."},
	{CodeTargetDefault, "", SeverityWarning, "A field that is not set gets a default of the target dialect in a conversion."},
	{CodeFolderName, SchemaValidation, SeverityError, "The folder of a directory profile has another name than its id."},
	{CodeUserTool, "", SeverityWarning, "The file of a workspace's own tool cannot be read as description, input-schema and command; the tool is not there."},
	{CodeNoAgents, "", SeverityWarning, "The file has a map of agents, and no agent in it."},
	{CodeSearchCut, "", SeverityWarning, "A folder holds more folders or files than are searched for directory profiles; the rest is not looked at."},
	{CodeDeepFolder, "", SeverityWarning, "A folder lies too many levels below its source and is not read."},
	{CodeKeptGood, "", SeverityWarning, "A file that loaded before does not load now; what it said before is still served, as catalog.keep-last-good asks."},
	{CodeIgnoreCut, "", SeverityWarning, "A .gitignore file is too long; only its beginning counts."},
	{CodeNotSearched, "", SeverityNote, "A folder cannot be listed, so directory profiles in it are not known."},
	{CodeNoParent, ProfileNotFound, SeverityError, "The profile extends one that is neither in its source nor in an earlier one."},
	{CodeCycle, SchemaValidation, SeverityError, "The profile extends itself, by way of the profiles that are named."},
	{CodeBadParent, SchemaValidation, SeverityError, "The profile extends one that does not load."},
	{CodeParents, SchemaValidation, SeverityError, "The profile has more parents than a profile may have, those of its parents included."},
	{CodeShadowedDeny, "", SeverityNote, "A later permission rule covers all that a deny names, so that the deny never decides."},
	{CodeAddsToAll, "", SeverityNote, "A list is to be added to what parents list, and the profile extends none."},
	{CodeByHand, InvalidFormat, SeverityError, "The file cannot be changed in place without touching what did not change; it is edited by hand."},
	{CodeCannotHold, SchemaValidation, SeverityError, "A profile is to be saved with a field that its dialect cannot hold."},
	{CodeHistory, "", SeverityWarning, "A part of a profile's history cannot be read, such as a damaged git repository; the rest is listed."},
	{CodeTwice, ProfileExists, SeverityError, "Two profiles of a conversion would be written to the same file; the later one is not written."},
	{CodeAlmostGuard, SchemaValidation, SeverityError, "A key is almost one that decides what the agent may do, such as Tools or disallowed-tool. The profile would be free of what it restricts."},
	{CodeAlmostRules, "", SeverityWarning, "The key permissions, which is almost permission, is read as rules: what it denies or asks for counts, what it allows does not. If it cannot be read, all asks that no other rule decides."},
	{CodeTextInText, "", SeverityWarning, "The file is one JSON text that holds JSON. It is read; places in it are not known."},
	{CodeExecuting, ExecutingKey, SeverityWarning, "A key would start, reach or read something, in a workspace that nobody has trusted, or other than it was then. It has no effect."},
	{CodeBypass, "", SeverityWarning, "The permission mode bypass has no effect without --dangerously-allow-all: what would be asked for is asked for."},
	{CodeLaunches, "", SeverityNote, "A permission rule allows a program that runs what it is given, such as an interpreter, with any words, or every command line: that is more than it names."},
	{CodeHook, SchemaValidation, SeverityError, "A hook cannot be understood: it has neither or both of command and url, a key or an event that there is not, or a value that does not fit."},
	{CodeNoProvider, "", SeverityWarning, "A profile names a context provider that this program does not have; nothing is added to its requests for it."},
	{CodeSandboxWall, "", SeverityWarning, "A profile asks for a weaker sandbox than roster.yaml sets for all; that of roster.yaml holds."},
	{CodeSandboxLink, "", SeverityWarning, "A path in sandbox.read is a link in the workspace that leads out of it; it may not be read."},
	{CodeKnotAgents, BothProfileAndConfig, SeverityError, "A knot names a profile, and has an agent-config that is an agent of its own: one with provider and model, a prompt or a goal."},
	{CodeKnotNoAgent, MissingAgentConfigOrProfileRef, SeverityError, "A knot names no profile and has no agent-config."},
	{CodeEmptyGoal, EmptyGoal, SeverityError, "The goal of a knot's agent-config is blank."},
	{CodeNoKnotPrompt, MissingPromptTemplate, SeverityError, "A knot has no instructions: neither in its prompt-template, nor below the frontmatter, nor as the goal of its agent-config."},
	{CodeNoStrandDir, MissingStrandDir, SeverityError, "A knot has neither a strand-dir nor a schedule, so that nothing would ever run it."},
	{CodeStrandDir, SchemaValidation, SeverityError, "The strand-dir of a knot leads out of the workspace, or is no event of a producer."},
	{CodeKnotTwice, SchemaValidation, SeverityError, "Two knots of a loom have the same name, or names that differ in upper and lower case alone. Neither is run."},
	{CodeLoom, SchemaValidation, SeverityError, "A rig, a loom or the file of a knot is a link that is not followed, or has a name that it may not have. It is not read."},
	{CodeNoSearch, "", SeverityWarning, "A profile lists websearch, and no service answers searches; the tool is not offered."},
	{CodeServer, SchemaValidation, SeverityError, "An MCP server cannot be understood: it has neither or both of command and url, or a value that does not fit."},
	{CodeServerOut, "", SeverityWarning, "An MCP server of another tool's file cannot be understood, and is left out."},
	{CodeServerKey, "", SeverityWarning, "A key of an MCP server means nothing here; it has no effect."},
	{CodeNoServer, "", SeverityWarning, "A profile names an MCP server that the workspace does not have."},
	{CodeNoProducer, "", SeverityWarning, "A knot waits for an event of a knot or loom that the rig does not have."},
	{CodeKnotTimes, SchemaValidation, SeverityError, "A schedule, time zone or quiet hour of a knot cannot be understood."},
	{CodeKnotIdle, "", SeverityWarning, "A key has no effect in this knot, such as ignore in one that waits for an event."},
	{CodeRigCut, SchemaValidation, SeverityError, "A rig has more looms or knots than are read."},
	{CodeService, SchemaValidation, SeverityError, "An OpenAPI service cannot be understood: it has no spec, a key that there is not, or a value that does not fit."},
	{CodeServiceSpec, "", SeverityWarning, "The document of an OpenAPI service cannot be read, has not been fetched yet, or leaves operations out; those are not offered."},
	{CodeServiceTools, "", SeverityWarning, "An OpenAPI service has more operations than agents are offered; none is, until a filter chooses."},
	{CodeNoService, "", SeverityWarning, "A list under openapi names a service that nothing defines."},
	{CodeDocument, InvalidFormat, SeverityError, "An OpenAPI document is refused: it is no such document, or one that is too large or too deep, or cannot be understood at all."},
	{CodeDocumentPart, "", SeverityWarning, "A part of an OpenAPI document is left out or read otherwise than it stands; the message says why."},
	{CodeSkillName, "", SeverityWarning, "A skill gives another name than its folder has, or a description that is longer than the standard allows."},
	{CodeSkillShadowed, "", SeverityNote, "Another skill of the same name, in a place that goes before, wins."},
	{CodeSkillDescription, "", SeverityWarning, "A skill has no description; the first paragraph of its text stands for it."},
	{CodeNoSkill, "", SeverityWarning, "A profile names a skill that is not there."},
	{CodeSkillsCut, "", SeverityNote, "The skills do not fit into skills-budget: their descriptions are shortened, or some are not listed."},
	{CodeSkillsUnoffered, "", SeverityWarning, "A profile names skills, and its model is not offered the tool skill."},
	{CodeSkillFile, "", SeverityWarning, "The file of a skill is not named SKILL.md as it should be."},
	{CodeSkillInside, "", SeverityNote, "A SKILL.md lies in the folder of another skill: it is one of that one's files."},
	{CodeSkillAllows, "", SeverityWarning, "The allowed-tools of a skill name what no skill can allow."},
	{CodeSkillPlace, "", SeverityWarning, "A folder of skills that somebody names is not there or has none, or there are more than are looked at."},
	{CodeCommandText, SchemaValidation, SeverityError, "The file of a command has no text to send."},
	{CodeCommandName, "", SeverityWarning, "The file of a command has a name that no command can have; it is not there."},
	{CodeCommandShadowed, "", SeverityNote, "Another command of the same name goes before this one."},
	{CodeCommandLacks, "", SeverityNote, "A command has something that its own system does and this one does not; the message says what happens instead."},
	{CodeCommandUnread, "", SeverityWarning, "A file or folder of commands cannot be read, leads out of the workspace, or holds too much."},
	{CodeNoBrowser, "", SeverityWarning, "A profile lists tools of the browser, and there is none that can be used; they are not offered."},
	{CodeNoKnowledge, "", SeverityWarning, "A profile lists tools of the knowledge base, and names no folder of it; they are not offered."},
	{CodePerRequest, "", SeverityNote, "A program builds the agent of the profile for each request; its prompt, and maybe its model, are not shown."},
}

// Codes lists every code in order.
func Codes() []Code { return slices.Clone(codes[:]) }

func lookupCode(code string) Code {
	for _, c := range codes {
		if c.Code == code {
			return c
		}
	}
	return Code{Code: code, Severity: SeverityError}
}

// Diagnose makes a diagnostic; its severity and name are those of the code.
func Diagnose(code string, at source.Origin, key, message, hint string) Diagnostic {
	c := lookupCode(code)
	return Diagnostic{
		Severity: c.Severity, Code: code, Name: string(c.Name),
		File: at.File, Line: at.Line, Column: at.Column,
		Key: key, Message: message, Hint: hint,
	}
}

// Is makes errors.Is find the diagnostic by its own name and by that of its
// code. They differ in dialects that have names of their own.
func (d *Diagnostic) Is(target error) bool {
	var n ErrorName
	if !errors.As(target, &n) {
		return false
	}
	return n != "" && (string(n) == d.Name || n == lookupCode(d.Code).Name)
}
