import { expect } from "chai";
import { openApiDocument } from "../../../src/http/document/openapi.ts";
import { PreconditionFailed } from "../../../src/http/declare/problems.ts";
import { problemsOf } from "../../../src/http/declare/responses.ts";
import { allOperations } from "../../../src/features/index.ts";
import { anyServed, approvedMerchant, type Person } from "../../support/app.ts";
import { expectProblem } from "../problem.ts";

anyServed("entity tags", (served) => {
  let merchant: Person & { readonly key: string };
  let path: string;

  before(async () => {
    merchant = await approvedMerchant(served.app);
    ({ path } = merchant);
  });

  const get = (headers: Record<string, string> = {}) =>
    served.app.request("GET", path, { key: merchant.key, headers });
  const patch = (body: unknown, headers: Record<string, string> = {}) =>
    served.app.request("PATCH", path, { key: merchant.key, body, headers });
  const tagOf = async () => (await get()).headers.get("ETag") ?? "";

  it("answer 304 with the tag and without a body while nothing has changed", async () => {
    const tag = await tagOf();
    expect(tag).to.match(/^"[0-9a-f]{32}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const answer = await get({ "If-None-Match": known });
      expect(answer.status, known).to.equal(304);
      expect(answer.text).to.equal("");
      expect(answer.headers.get("ETag")).to.equal(tag);
      expect(answer.headers.get("X-Request-Id")).to.match(/^req_/);
    }
    const head = await served.app.request("HEAD", path, {
      key: merchant.key,
      headers: { "If-None-Match": tag },
    });
    expect(head.status).to.equal(304);
    for (const unknown of ['"other"', "nonsense", "", tag.slice(1, -1)]) {
      expect((await get({ "If-None-Match": unknown })).status, unknown).to.equal(200);
    }
    await patch({ name: "Renamed" });
    expect((await get({ "If-None-Match": tag })).status).to.equal(200);
  });

  it("are honored by the operations whose declaration says so", () => {
    const { paths } = openApiDocument(allOperations, "1") as {
      paths: Record<string, Record<string, { operationId: string; parameters: object[] }>>;
    };
    const told = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ parameters }) => JSON.stringify(parameters).includes("parameters/IfMatch"))
      .map(({ operationId }) => operationId);
    const patches = allOperations.filter(({ method }) => method === "PATCH").map(({ id }) => id);
    expect(told).to.have.members([...patches, "adminUpdateOrganizationVerification"]);
    for (const operation of allOperations) {
      const refuses = problemsOf(operation).includes(PreconditionFailed);
      expect(refuses, operation.id).to.equal(told.includes(operation.id));
    }
  });

  it("give no 304 to a caller without access", async () => {
    const tag = await tagOf();
    const answer = await served.app.request("GET", path, { headers: { "If-None-Match": tag } });
    expectProblem(answer, 401, "unauthenticated");
  });

  it("allow a change only if the object is as the editor read it", async () => {
    const tag = await tagOf();
    const first = await patch({ name: "First" }, { "If-Match": tag });
    expect(first.status).to.equal(200);
    expect(first.headers.get("ETag")).to.equal(await tagOf());
    expectProblem(await patch({ name: "Late" }, { "If-Match": tag }), 412, "precondition_failed");
    for (const wrong of ['"other"', "nonsense"]) {
      const answer = await patch({ name: "Wrong" }, { "If-Match": wrong });
      expectProblem(answer, 412, "precondition_failed");
    }
    expect((await get()).body["name"]).to.equal("First");
    expect((await patch({ name: "Any" }, { "If-Match": "*" })).status).to.equal(200);
    const listed = `"other", ${await tagOf()}`;
    expect((await patch({ name: "Listed" }, { "If-Match": listed })).status).to.equal(200);
  });

  it("refuse a stale change even if it would change nothing", async () => {
    const stale = await tagOf();
    await patch({ name: "Moved" });
    const answer = await patch({ name: "Moved" }, { "If-Match": stale });
    expectProblem(answer, 412, "precondition_failed");
  });

  it("let only one of two editors who read the same version succeed", async () => {
    for (let round = 0; round < 4; round += 1) {
      const tag = await tagOf();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          patch({ displayName: `Editor ${String(round)} ${String(n)}` }, { "If-Match": tag }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([
        200, 412, 412, 412, 412, 412,
      ]);
      const won = answers.find(({ status }) => status === 200);
      expect((await get()).text).to.equal(won?.text);
    }
  });

  it("keep both of two changes to different fields without a tag", async () => {
    await Promise.all([
      patch({ website: "https://one.example" }),
      patch({ contactEmail: "two@example.com" }),
      patch({ name: "Three" }),
    ]);
    expect((await get()).body).to.include({
      website: "https://one.example",
      contactEmail: "two@example.com",
      name: "Three",
    });
  });
});
