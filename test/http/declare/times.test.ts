// Every time that a list or a figure is narrowed by, on every operation that takes one.
import { expect } from "chai";
import { openApiDocument } from "../../../src/http/document/openapi.ts";
import { allOperations } from "../../../src/features/index.ts";
import { anyServed, platformAdmin, type Person } from "../../support/app.ts";
import { pathOf } from "./operations.ts";
import { pointersOf } from "../problem.ts";

/** Lists filter by a named time, reports cover a period; the audit logs' lists keep their older names. */
const listTimes = ["createdFrom", "createdTo", "paidFrom", "paidTo"];
const reportTimes = ["from", "to"];
const names = [...listTimes, ...reportTimes];
const timed = allOperations.flatMap((operation) =>
  Object.keys(operation.query)
    .filter((name) => names.includes(name))
    .map((name) => ({ operation, name })),
);

anyServed(
  "a time in a query",
  (served) => {
    let admin: Person;
    before(async () => {
      admin = await platformAdmin(served.app);
    });
    const ask = ({ operation, name }: (typeof timed)[number], value: string) => {
      const path = pathOf(operation, { organizationId: admin.organizationId });
      // The platform narrows payments by time within one organization.
      const ofOne =
        "organizationId" in operation.query ? `&organizationId=${admin.organizationId}` : "";
      const query = `?${name}=${encodeURIComponent(value)}${ofOne}`;
      return served.app.request("GET", path + query, { token: admin.token });
    };

    it("is named after the event it filters by in lists, and is called from and to in reports", () => {
      const document = openApiDocument(allOperations, "0") as unknown as {
        paths: Record<string, { get?: { parameters: { name: string; deprecated?: true }[] } }>;
      };
      for (const { operation, name } of timed.filter((each) => reportTimes.includes(each.name))) {
        const parameters = document.paths[operation.path]?.get?.parameters ?? [];
        const isDeprecated = parameters.some(
          (each) => each.name === name && each.deprecated === true,
        );
        const isList = operation.query["cursor"] !== undefined;
        expect(isDeprecated, `${operation.id} ${name}`).to.equal(isList);
      }
    });

    it("must be an existing day with an offset; otherwise a 400 names it", async () => {
      expect(timed.length).to.be.greaterThan(5);
      for (const where of timed) {
        for (const wrong of [
          "2026-13-40",
          "2026-02-30",
          "2026-02-30T00:00:00Z",
          "2025-02-29T00:00:00Z",
          "2026-01-31",
          "2026-01-31T00:00:00",
          "2026-01-31T24:00:00Z",
          "2026-01-31T00:60:00Z",
          "2026-01-31 00:00:00Z",
          "2026-01-31T00:00:00+99:99",
          "1767225600000",
          "yesterday",
          "",
          // Their year in UTC has another number of digits, or a sign.
          "9999-12-31T23:59:59.999-00:01",
          "0001-01-01T00:00:00+00:01",
          "0000-06-01T00:00:00Z",
        ]) {
          const told = `${where.operation.id} ${where.name}=${wrong}`;
          expect(pointersOf(await ask(where, wrong)), told).to.deep.equal([`?${where.name}`]);
        }
      }
    });

    it("may have any precision and any offset", async () => {
      for (const where of timed) {
        const year = /to$/i.test(where.name) ? "2100" : "2026";
        const isFigure =
          where.operation.group === "Analytics" || /Top|Charts/.test(where.operation.id);
        for (const good of [
          `${year}-01-31T00:00:00Z`,
          `${year}-01-31T00:00:00.000Z`,
          `${year}-01-31T02:00:00+02:00`,
        ]) {
          const { status } = await ask(where, good);
          // Charts may find that so many days are too many buckets.
          expect(status, `${where.operation.id} ${good}`).to.be.oneOf(
            isFigure ? [200, 422] : [200],
          );
        }
      }
    });
  },
  { background: false },
);
