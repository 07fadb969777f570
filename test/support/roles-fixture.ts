import type { Role } from "../../src/http/declare/permissions.ts";
import { addMembership } from "../../src/features/members/members.ts";
import type { Id } from "../../src/kernel/id.ts";
import { register, type Person, type TestApp } from "./app.ts";
import { testContext } from "./store/stores.ts";

/** Registers a user as a member of another user's organization, which becomes their `organizationId`. */
export async function colleague(app: TestApp, of: Person, role: Role): Promise<Person> {
  const person = await register(app, role);
  const { db, clock } = app.app;
  await db.write(testContext, (tx) =>
    addMembership(tx, app.app, clock.now(), {
      userId: person.userId as Id<"user">,
      organizationId: of.organizationId as Id<"organization">,
      role,
    }),
  );
  return { ...person, organizationId: of.organizationId };
}

/** Creates an API key through the API and returns its secret. */
export async function keyOf(
  app: TestApp,
  of: Person,
  ...scopes: readonly string[]
): Promise<string> {
  const answer = await app.request("POST", `/v1/organizations/${of.organizationId}/api-keys`, {
    token: of.token,
    body: { name: scopes.join(" "), scopes },
  });
  if (answer.status !== 201) throw new Error(`createApiKey answered ${answer.text}`);
  return answer.body["secret"] as string;
}

/** Returns all entries of a list, page by page; `between` runs after each page. */
export async function walk(
  app: TestApp,
  path: string,
  token: string,
  limit: number,
  between: (page: number) => Promise<void> = () => Promise.resolve(),
): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  for (let page = 0; page === 0 || cursor !== null; page += 1) {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = await app.request("GET", `${path}?${query.toString()}`, { token });
    if (answer.status !== 200) throw new Error(`the list answered ${answer.text}`);
    items.push(...(answer.body["data"] as Record<string, unknown>[]));
    cursor = answer.body["nextCursor"] as string | null;
    await between(page);
  }
  return items;
}
