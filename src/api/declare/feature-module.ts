import type { App } from "../../app.ts";
import type { Check } from "../../platform/database/schema/checks.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import type { Prune } from "../../platform/jobs/retention.ts";
import type { MetricGroup } from "../../platform/metrics/metrics.ts";
import type { Page } from "../page.ts";
import type { Operation } from "./operation.ts";

/** The parts of the app that the metrics of payments use, until they take the app. */
export type ModuleParts = Pick<App, "config" | "db" | "clock">;

/**
 * The contributions of a feature to the program, which the composition root mounts, starts and runs. `Services` are the
 * services that they need, by their names in the composition root. Tables and events register themselves where they are
 * declared. Commands are listed in src/cli/features.ts, because `till help` must not load the operations.
 */
export interface FeatureModule<Services> {
  /** The operations of each service. */
  readonly operations?: {
    readonly [Name in keyof Services]?: readonly Operation<Services[Name]>[];
  };
  /** The HTML pages of each service. */
  readonly pages?: { readonly [Name in keyof Services]?: readonly Page<Services[Name]>[] };
  /** Consistency checks, which `till db verify` runs. */
  readonly checks?: readonly Check[];
  /** Deletions of expired rows, which run every hour, by the name of their job. */
  readonly prunings?: Readonly<Record<string, Prune>>;
  readonly workers?: (app: App & Services) => readonly Worker[];
  /** Metrics that are read from the store or from objects of the app at each scrape. */
  readonly metrics?: (app: App & Services) => readonly MetricGroup[];
}
