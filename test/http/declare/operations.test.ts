import { expect } from "chai";
import { allOperations } from "../../../src/features/index.ts";
import {
  anyServed,
  approvedMerchant,
  platformAdmin,
  type Answer,
  type Person,
} from "../../support/app.ts";
import { testContext } from "../../support/store/stores.ts";
import { isWrite, parametersOf, pathOf } from "./operations.ts";
import { expectProblem, placeOf, withoutRequest } from "../problem.ts";
import { settingsForThings } from "../things.ts";

type Kind = (typeof allOperations)[number]["access"]["kind"];
const of = (...kinds: readonly Kind[]) =>
  allOperations.filter((operation) => kinds.includes(operation.access.kind));

describe("the operations", () => {
  it("have unique names, paths and records, and all declare their access", () => {
    const distinct = (values: readonly string[]) => new Set(values).size;
    expect(distinct(allOperations.map(({ id }) => id))).to.equal(allOperations.length);
    const routes = allOperations.map(({ method, path }) => `${method} ${path}`);
    expect(distinct(routes)).to.equal(routes.length);
    for (const operation of allOperations) {
      const { kind } = operation.access;
      expect(kind).to.be.oneOf(["public", "authenticated", "organization", "platform"]);
      if (kind === "organization") expect(operation.path).to.include("{organizationId}");
      if (kind === "platform") expect(operation.path).to.match(/^\/admin\//);
      if (operation.path.startsWith("/organizations/{")) expect(kind).to.equal("organization");
      if (operation.method === "GET") expect(operation.body, operation.id).to.equal(null);
    }
    const open = of("public").map(({ path }) => path.split("/")[1]);
    expect([...new Set(open)].sort()).to.deep.equal(["auth", "checkout"]);
  });

  it("require write permission to write and read permission to read", () => {
    for (const operation of of("organization", "platform")) {
      const permission =
        "permission" in operation.access ? (operation.access.permission ?? "") : "";
      expect(permission.endsWith(":read"), operation.id).to.equal(!isWrite(operation));
    }
  });
});

anyServed(
  "every operation",
  (served) => {
    let admin: Person;
    let merchant: Person & { readonly key: string };

    before(async () => {
      admin = await platformAdmin(served.app);
      merchant = await approvedMerchant(served.app);
    });

    const call = (
      operation: (typeof allOperations)[number],
      credential: { readonly key?: string; readonly token?: string },
      sent: { readonly path?: string; readonly query?: string; readonly body?: unknown } = {},
    ): Promise<Answer> => {
      const { key, token } = credential;
      const { path = pathOf(operation, merchantIds()), query = "", body = {} } = sent;
      return served.app.request(operation.method, path + query, {
        ...(key === undefined ? {} : { key }),
        ...(token === undefined ? {} : { token }),
        ...(operation.body === null ? {} : { body }),
        // The document has the headers of compressed answers too.
        headers: { "Accept-Encoding": "gzip" },
      });
    };
    const merchantIds = () => ({ organizationId: merchant.organizationId });
    /** Somebody who may call it. */
    const owner = (operation: (typeof allOperations)[number]) =>
      operation.access.kind === "public"
        ? {}
        : { token: operation.access.kind === "platform" ? admin.token : merchant.token };

    it("that needs a credential refuses a caller without one, whatever else is wrong", async () => {
      const alike = new Set<string>();
      for (const operation of of("authenticated", "organization", "platform")) {
        const answer = await call(operation, {}, { query: "?nonsense=1", body: "nonsense" });
        expectProblem(answer, 401, "unauthenticated");
        alike.add(JSON.stringify(withoutRequest(answer)));
      }
      expect(alike.size).to.equal(1);
    });

    it("treats malformed ids like unknown ones", async () => {
      for (const operation of allOperations) {
        for (const name of parametersOf(operation)) {
          for (const bad of ["abc", "%00", "..%2f", "💩", "a".repeat(65), "'"]) {
            if (["queue", "network"].includes(name) && bad === "abc") continue;
            const path = pathOf(operation, { ...merchantIds(), [name]: bad });
            const answer = await call(operation, owner(operation), { path });
            expect(answer.status, `${operation.id} ${name} ${bad}`).to.equal(404);
            expectProblem(answer, 404, answer.body["code"] as string);
          }
        }
      }
    });

    it("refuses unknown query parameters and fields by name", async () => {
      for (const operation of allOperations) {
        const query = await call(operation, owner(operation), { query: "?nonsense=1&nonsense=2" });
        const pointers = expectProblem(query, 400, "invalid_request").map(placeOf);
        expect(pointers, operation.id).to.include("?nonsense");
        if (operation.body === null) continue;
        const body = await call(operation, owner(operation), { body: { nonsense: 1, __x: null } });
        const fields = expectProblem(body, 400, "invalid_request").map(placeOf);
        expect(fields, operation.id).to.include.members(["/nonsense", "/__x"]);
      }
    });

    it("that lists accepts only a valid limit and its own cursors", async () => {
      const lists = allOperations.filter(({ query }) => "cursor" in query);
      expect(lists.length).to.be.greaterThan(5);
      for (const operation of lists) {
        const list = (query: string) => call(operation, owner(operation), { query });
        for (const limit of [
          "0",
          "-1",
          "101",
          "1e9",
          "1.5",
          "abc",
          "",
          "%20",
          "0x10",
          "١",
          "1%00",
        ]) {
          const answer = await list(`?limit=${limit}`);
          const pointers = expectProblem(answer, 400, "invalid_request").map(placeOf);
          expect(pointers, `${operation.id} ${limit}`).to.deep.equal(["?limit"]);
        }
        for (const cursor of ["", "x", "null", "%00", "eyJhIjoxfQ", "a".repeat(3_000)]) {
          const answer = await list(`?cursor=${cursor}`);
          const pointers = expectProblem(answer, 400, "invalid_request").map(placeOf);
          expect(pointers, `${operation.id} ${cursor.slice(0, 9)}`).to.deep.equal(["?cursor"]);
        }
        expectProblem(await list("?limit=1&limit=2"), 400, "invalid_request");
        expect((await list("?limit=100")).status, operation.id).to.equal(200);
      }
    });

    it("with a body accepts only JSON objects", async () => {
      for (const operation of allOperations.filter(({ body }) => body !== null)) {
        const path = pathOf(operation, merchantIds());
        const text = await served.app.request(operation.method, path, {
          ...owner(operation),
          raw: "{}",
          headers: { "Content-Type": "text/plain" },
        });
        expectProblem(text, 415, "unsupported_media_type");
        for (const body of [null, [], "x", 1]) {
          const answer = await call(operation, owner(operation), { body });
          expectProblem(answer, 400, "invalid_request");
        }
      }
    });

    it("allows a suspended organization to read but not to write", async () => {
      const suspended = await approvedMerchant(served.app);
      await served.app.app.db.write(testContext, (tx) =>
        tx.run("UPDATE organizations SET status = 'suspended' WHERE id = $1", [
          suspended.organizationId,
        ]),
      );
      for (const operation of of("organization")) {
        const path = pathOf(operation, { organizationId: suspended.organizationId });
        for (const credential of [{ key: suspended.key }, { token: suspended.token }]) {
          const answer = await call(operation, credential, { path });
          if (isWrite(operation) && answer.body["code"] !== "forbidden") {
            expectProblem(answer, 403, "organization_suspended");
          } else if (!isWrite(operation)) {
            expect(answer.status, operation.id).to.be.oneOf([200, 404]);
          }
        }
      }
      const founded = await served.app.request("POST", "/v1/organizations", {
        key: suspended.key,
        body: { name: "Escape" },
      });
      expectProblem(founded, 403, "organization_suspended");
    });
  },
  { settings: settingsForThings, background: false },
);
