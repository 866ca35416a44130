// Package roster runs agents by their profiles: it says who an agent is, what that
// resolves to and why, and runs it, so that nothing is lost when a process dies. The
// command line, the HTTP service and programs that embed it all go the same way: a
// profile becomes a spec, and a spec is run.
//
// # Open and run
//
// [Open] reads a workspace: a folder with profiles and maybe a roster.yaml. It starts
// nothing. [App.NewAgent] makes an [Agent] of a profile; [Agent.Prompt] gives it a
// message, and the [Run] that comes of it is waited for, or watched:
//
//	app, _, err := roster.Open(".", roster.Options{})
//	agent, err := app.NewAgent("reviewer", roster.AgentOptions{})
//	run, err := agent.Prompt(ctx, "What changed since Monday?")
//	end, err := run.Wait(ctx)
//	fmt.Println(end.Text)
//
// A prompt is stored before Prompt returns, and runs by itself. Another process that
// opens the workspace finds the session, and goes on with what this one has left. The
// steps below that are [App.Submit], [App.Follow] and the other methods of [App].
//
// # Define profiles in code
//
// [DefineProfile] makes a profile of a [Definition]. A [Static] agent is the same for
// each request, but for the prompt that a function may make; Create builds the agent
// anew each time, with [DefineAgent]. Both are told for whom in a [ProfileContext]. What
// the agent can do are its capabilities, those of the packages below capability and the
// program's own.
//
// A [ProfileResolver] says which profile serves an agent id and a tenant.
// [StaticResolver] has a list, whose profiles stand in the catalog beside those of files:
// they are listed, shown, explained, delegated to and switched to like them.
// [CatalogResolver] has the files of another catalog, and [ResolverFunc] is your own.
//
// # Serve
//
// [NewApp] opens a workspace and starts to run what is left in it. The [App] is an
// http.Handler with all routes; [ChatHandler] and [StreamHandler] are two of them for a
// mux of your own:
//
//	app, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(Analytics, Support)})
//	http.Handle("/", app)
//
// # Extend
//
// [Options] add to all agents of an app: a [Capability] brings tools, a [ContextProvider]
// and a [Transform] add to and change requests, a [Hook] is asked before and after what
// happens and may deny it, a [PromptStrategy] puts prompts together, and Models are models
// of your own. The first three can be a single profile's, too.
//
// # Errors
//
// Errors that programs tell apart are values with fields, for errors.As; [Code] gives the
// stable name of any. A profile that is not well defined is a [DefinitionError], from
// [NewApp] on; a function of the program that fails for one request is a [BuildError].
package roster
