import type { App } from "../../app.ts";
import type { Check } from "../../platform/database/schema/checks.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import type { Prune } from "../../platform/jobs/retention.ts";
import type { MetricGroup } from "../../platform/metrics/metrics.ts";
import type { Page } from "../page.ts";
import type { Operation } from "./operation.ts";

/**
 * The contributions of a feature to the program, which the composition root mounts, starts and runs. Tables and events
 * register themselves where they are declared. Commands are listed in src/cli/features.ts, because `till help` must not
 * load the operations.
 */
export interface FeatureModule {
  readonly operations?: readonly Operation[];
  /** The HTML pages. */
  readonly pages?: readonly Page[];
  /** Consistency checks, which `till db verify` runs. */
  readonly checks?: readonly Check[];
  /** Deletions of expired rows, which run every hour, by the name of their job. */
  readonly prunings?: Readonly<Record<string, Prune>>;
  readonly workers?: (app: App) => readonly Worker[];
  /** Metrics that are read from the store or from objects of the app at each scrape. */
  readonly metrics?: (app: App) => readonly MetricGroup[];
}
