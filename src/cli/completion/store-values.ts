import type { ValueSource } from "../../api/declare/command.ts";
import type { LoadOptions } from "../../platform/config/load.ts";
import type { Reader } from "../../platform/database/database.ts";
import { idsThatBegin, kindsOf, namesThatBegin, type Known } from "../known/known-values.ts";
import { findNamed } from "../organization.ts";
import { isTypable } from "./shell-line.ts";

/** The number of objects of a kind that a completion offers. */
const offeredMax = 50;

/** The values to look for. */
interface Wanted {
  readonly sources: readonly ValueSource[];
  /** The beginning of the value. */
  readonly typed: string;
  /** The id or name in --organization, whose objects are offered. */
  readonly organization: string | null;
  /** Whether the command works on the organization of the settings if none is given. */
  readonly needsOrganization: boolean;
}

/**
 * Returns the values of some sources that begin as typed.
 * @throws if the store or the settings cannot be read
 */
export async function readSources(options: LoadOptions, wanted: Wanted): Promise<readonly Known[]> {
  const { sources, typed, organization, needsOrganization } = wanted;
  if (sources.includes("network") || sources.includes("token")) {
    return networkValues(options, sources);
  }
  const { readKnown } = await import("../known/read-known.ts");
  const found = await readKnown(options, async (reader, setting) => {
    const named = organization ?? (needsOrganization ? setting : null);
    const owner = named === null ? null : (await findNamed(reader, named)).id;
    const known: Known[] = [];
    if (sources.includes("email")) {
      known.push(...(await namesThatBegin(reader, "email", typed, offeredMax)));
    }
    if (sources.includes("organization")) known.push(...(await organizations(reader, typed)));
    for (const kind of kindsOf(sources)) {
      // They are offered by name.
      if (kind === "organization" && typed === "") continue;
      known.push(...(await idsThatBegin(reader, kind, typed, owner, offeredMax)));
    }
    return known;
  });
  return found ?? [];
}

/** Returns organizations by their names, and those by their ids whose name several have or nobody can type. */
async function organizations(reader: Reader, typed: string): Promise<readonly Known[]> {
  const named = await namesThatBegin(reader, "organization", typed, offeredMax);
  const count = new Map<string, number>();
  for (const { name } of named) {
    const folded = name.toLowerCase();
    count.set(folded, (count.get(folded) ?? 0) + 1);
  }
  return named.map((one) =>
    isTypable(one.name) && count.get(one.name.toLowerCase()) === 1
      ? { value: one.name, description: one.value }
      : one,
  );
}

async function networkValues(
  options: LoadOptions,
  sources: readonly ValueSource[],
): Promise<readonly Known[]> {
  const { loadConfig } = await import("../../platform/config/load.ts");
  const { networks } = (await loadConfig(options)).config;
  if (sources.includes("network")) {
    return networks.map(({ id, title }) => ({ value: id, description: title }));
  }
  const symbols = new Set(networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  return [...symbols].map((value) => ({ value, description: "" }));
}
