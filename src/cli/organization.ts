import type { CommandCall, CommandFlag } from "../http/declare/command.ts";
import { defineProblem } from "../kernel/errors.ts";
import type { Id } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";
import { articled, kindOf, similar as similarTo } from "./known/known-values.ts";

const OrganizationNeeded = defineProblem({
  code: "organization_needed",
  status: 400,
  title: "Name an organization",
});

const UnknownOrganization = defineProblem({
  code: "unknown_organization",
  status: 404,
  title: "Not found",
});

/** The number of organizations that an error lists. */
const listedMax = 10;

/** An organization, as messages name it. */
export interface NamedOrganization {
  readonly id: Id<"organization">;
  readonly name: string;
  readonly status: "active" | "suspended";
}

/** True if a call of a command with these flags needs an organization. */
export function needsOrganization(flags: readonly CommandFlag[], call: CommandCall): boolean {
  return flags.some(
    ({ isNeededOrganization, isNeededIf }) =>
      isNeededOrganization === true && (isNeededIf?.(call) ?? true),
  );
}

/**
 * Returns the organization of a command that needs one: that of its flag, or of the setting, or the only one of the
 * store. Throws an error that lists organizations if none or several fit.
 * @param setting TILL_ORGANIZATION
 */
export async function chooseOrganization(
  reader: Reader,
  given: string | undefined,
  setting: string | null,
): Promise<NamedOrganization> {
  if (given !== undefined) return findNamed(reader, given);
  if (setting !== null) return findNamed(reader, setting);
  const { searchOrganizations } = await import("../features/organizations/store.ts");
  const some = await searchOrganizations(reader, {}, { after: null, fetch: listedMax + 1 });
  const [only] = some;
  if (only !== undefined && some.length === 1) return only;
  throw new OrganizationNeeded(
    `Give --organization with an id or a name, or set TILL_ORGANIZATION. The store has several:\n${listing(some)}`,
  );
}

/**
 * Returns the organization with an id or a name: its own, its legal one or the one that payers see, ignoring case.
 * Throws an error that lists the candidates if several have this name, or none.
 */
export async function findNamed(reader: Reader, given: string): Promise<NamedOrganization> {
  const { findOrganization, organizationsNamed, searchOrganizations } =
    await import("../features/organizations/store.ts");
  const text = given.trim();
  const known = await findOrganization(reader, text as Id<"organization">);
  if (known !== null) return known;
  const named = await organizationsNamed(reader, text, listedMax + 1);
  const [only] = named;
  if (only !== undefined && named.length === 1) return only;
  if (named.length > 1) {
    throw new OrganizationNeeded(
      `Several are named ${JSON.stringify(text)}. Give the id of one:\n${listing(named)}`,
    );
  }
  const page = { after: null, fetch: listedMax + 1 };
  const found = text === "" ? [] : await searchOrganizations(reader, { search: text }, page);
  const none = `No organization has the id or the name ${JSON.stringify(text)}.`;
  const other = kindOf(text);
  if (other !== null && other !== "organization") {
    throw new UnknownOrganization(`${none} It is the id of ${articled(other)}.`);
  }
  const similar = found.length > 0 ? found : await spelledSimilarly(reader, text);
  throw new UnknownOrganization(
    similar.length === 0
      ? `${none} Ids are case-sensitive; till org list shows all.`
      : `${none} Did you mean one of these?\n${listing(similar)}`,
  );
}

/** Returns the organizations whose id or name is spelled almost so. */
async function spelledSimilarly(reader: Reader, text: string): Promise<NamedOrganization[]> {
  const { organizationsById } = await import("../features/organizations/store.ts");
  const near = await similarTo(reader, "organization", text, null);
  const ids = near.map(({ value }) => value as Id<"organization">);
  return organizationsById(reader, ids);
}

/** Lists up to ten organizations, one a line. */
function listing(some: readonly NamedOrganization[]): string {
  const lines = some.slice(0, listedMax).map(({ id, name }) => `  ${name} (${id})`);
  return [...lines, ...(some.length > listedMax ? ["  … more: till org list"] : [])].join("\n");
}
