import type { App } from "../../app.ts";
import type { Principal, Role } from "../../http/declare/permissions.ts";
import type { ApiKeyActor } from "../../kernel/actor.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/database.ts";
import { membershipsOfUser, userView, type UserView } from "../members/store.ts";
import { organizationsById } from "../organizations/store.ts";

/** An organization in which a credential may act. */
export interface OwnOrganization {
  readonly id: Id<"organization">;
  readonly name: string;
  readonly status: "active" | "suspended";
  /** Null for an API key. */
  readonly role: Role | null;
}

/** A credential with its holder and organizations. */
export type CredentialView = { readonly organizations: readonly OwnOrganization[] } & (
  | { readonly type: "user"; readonly user: UserView }
  | { readonly type: "api_key"; readonly key: ApiKeyActor }
);

/** Describes the credential of the request. */
export async function describeCredential(app: App, actor: Principal): Promise<CredentialView> {
  const { db } = app;
  if (actor.type === "api_key") {
    const organizations = await ownOrganizations(db, new Map([[actor.organizationId, null]]));
    return { type: "api_key", key: actor, organizations };
  }
  const [user, memberships] = await Promise.all([
    userView(db, actor.id),
    membershipsOfUser(db, actor.id),
  ]);
  if (user === null) throw new Defect("a session has no user");
  const roles = new Map(memberships.map(({ organizationId, role }) => [organizationId, role]));
  return { type: "user", user, organizations: await ownOrganizations(db, roles) };
}

/** Returns organizations in the order of the given map, with the caller's role in each. */
async function ownOrganizations(
  reader: Reader,
  roles: ReadonlyMap<Id<"organization">, Role | null>,
): Promise<OwnOrganization[]> {
  const rows = new Map(
    (await organizationsById(reader, [...roles.keys()])).map((row) => [row.id, row]),
  );
  return [...roles].flatMap(([id, role]) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ id, name: row.name, status: row.status, role }];
  });
}
