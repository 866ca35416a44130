import { Empty } from "../../parts/parts";

// Introspection is what an agent knows of itself, once there is such.
export function Introspection() {
  return (
    <Empty>
      <h2>There is nothing here yet</h2>
      <p>
        Agents do not remember from one session to the next in this version. This is where what they come to know will
        be seen: what they have learnt, from which session it is, and how sure they are of it.
      </p>
    </Empty>
  );
}
