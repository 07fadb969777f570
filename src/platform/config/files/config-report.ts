import type { z } from "zod";
import type { ConfigProblem, ReportedSetting } from "../config.ts";
import type { RawSetting } from "../sources.ts";
import { InvalidValue, readValue, showValue } from "../value-type.ts";

/** Collects the settings that were read and their problems, so that all are reported at once. */
export interface Reading {
  readonly problems: ConfigProblem[];
  readonly settings: ReportedSetting[];
  /** Reads and reports a setting; null if it is not given or invalid. */
  read<T>(
    name: string,
    key: string | null,
    schema: z.ZodType<T>,
    given: RawSetting | null,
  ): T | null;
  /** Reports a setting whose value is the program's default. */
  report(name: string, key: string | null, value: string): void;
  /** Runs an action. If it throws an InvalidValue, its problem is recorded under the name and the result is null. */
  attempt<T>(name: string, action: () => T | Promise<T>): Promise<T | null>;
}

export function makeReading(): Reading {
  const problems: ConfigProblem[] = [];
  const settings: ReportedSetting[] = [];
  const byDefault = { source: "default", name: "" } as const;
  return {
    problems,
    settings,
    read(name, key, schema, given) {
      if (given === null) {
        settings.push({ name, key, value: null, origin: byDefault });
        return null;
      }
      const { origin } = given;
      try {
        const value = readValue(schema, given.value, given.folder);
        settings.push({ name, key, value: showValue(schema, value), origin });
        return value;
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error;
        problems.push({ name: origin.name, message: error.message });
        settings.push({ name, key, value: "(invalid)", origin });
        return null;
      }
    },
    report(name, key, value) {
      settings.push({ name, key, value, origin: byDefault });
    },
    async attempt(name, action) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error;
        problems.push({ name, message: error.message });
        return null;
      }
    },
  };
}
