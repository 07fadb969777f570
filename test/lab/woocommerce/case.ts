import type { Stage } from "./stage.ts";

/** A case of the proof. It throws if it does not hold. */
export interface Case {
  /** The name by which PROVE_CASES chooses it. */
  readonly name: string;
  readonly promise: string;
  /** Parts of the shop on which it depends beside the versions: it is tried with each kind of them. */
  readonly dependsOn: readonly ("checkout" | "storage")[];
  run(stage: Stage): Promise<void>;
}
