import { createApiKey } from "../../src/features/api-keys/api-keys.ts";
import { addOrganization } from "../../src/features/organizations/organizations.ts";
import type { OperatorActor } from "../../src/kernel/actor.ts";
import type { Id } from "../../src/kernel/id.ts";
import { expectStatus, register, type Person, type TestApp } from "./app.ts";

const operator: OperatorActor = { type: "operator", id: null, label: "tests@localhost" };
const context = { actor: operator, requestId: null, ip: null };

/** Creates the platform organization, as `till init` does, and returns an API key of it with the scope `platform`. */
export async function platformKey({ app }: TestApp): Promise<string> {
  const organization = await app.db.write(context, (tx) =>
    addOrganization(tx, app, app.clock.now(), {
      name: "Platform",
      ownerId: null,
      isPlatform: true,
    }),
  );
  const { secret } = await createApiKey(app, context, organization.id, {
    name: "review",
    scopes: ["platform"],
  });
  return secret;
}

/** Creates the platform organization with a registered user as its owner, whose `organizationId` it becomes. */
export async function platformAdmin(app: TestApp): Promise<Person> {
  const person = await register(app, "Olga");
  const { db, clock } = app.app;
  const organization = await db.write(context, (tx) =>
    addOrganization(tx, app.app, clock.now(), {
      name: "Platform",
      ownerId: person.userId as Id<"user">,
      isPlatform: true,
    }),
  );
  return { ...person, organizationId: organization.id };
}

/** Approves an organization with the operation that the platform's reviewers use. */
export async function approve(app: TestApp, key: string, organizationId: string): Promise<void> {
  await expectStatus(
    app.request("POST", `/v1/admin/organizations/${organizationId}/verification`, {
      key,
      body: { decision: "approve" },
    }),
    200,
  );
}
