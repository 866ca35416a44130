// The pages that are looked at less often come in one file: together they are smaller
// than apart.
export { Audit } from "./audit";
export { Delegation } from "./delegation/delegation";
export { ByFile } from "./diagnostics";
export { Doctor } from "./doctor";
export { Keys } from "./keys";
export { Models } from "./models";
export { RigPage } from "./rig/rig";
export { Usage } from "./usage/usage";
