package spec

// Habits say how an agent goes about its work.
type Habits struct {
	Planning Planning `json:"planning,omitzero"`
	// PlanningReflect has the plan looked at before it is made, where its analysis
	// asks for that.
	PlanningReflect bool `json:"planning_reflect,omitempty"`
	// IterationBudget tells the model how many turns are left. On the last one it
	// is to answer without tools.
	IterationBudget bool `json:"iteration_budget,omitempty"`
	// GoalAnchoring says what it is for again, every so many turns; 0: never.
	GoalAnchoring int `json:"goal_anchoring,omitempty"`
	// AntiStall reminds it after so many turns in which nothing moved, and ends the
	// loop after as many more; 0: never.
	AntiStall int `json:"anti_stall,omitempty"`
	// StepValidation lets a step count as done only where it is said how that is
	// known, and a look at it agrees.
	StepValidation bool `json:"step_validation,omitempty"`
	// AdaptiveReplan has the rest of a plan written anew when a step fails.
	AdaptiveReplan bool `json:"adaptive_replan,omitempty"`
}

// Planning says whether there is a plan before the first turn, and how it is
// made.
type Planning struct {
	On        bool `json:"on,omitempty"`
	Mandatory bool `json:"mandatory,omitempty"` // simple requests are planned too
	Analysis  bool `json:"analysis,omitempty"`  // what the task is
	Review    bool `json:"review,omitempty"`    // what is wrong with that, always
	Plan      bool `json:"plan,omitempty"`      // the steps
}
