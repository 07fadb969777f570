import { expect } from "chai";
import { expectProblem } from "../../http/problem.ts";
import {
  eachServed,
  expectStatus,
  legalFields,
  platformAdmin,
  register,
  type Answer,
  type Person,
} from "../../support/app.ts";

eachServed("a decision on an organization", (served) => {
  let root: Person;
  let merchant: Person;
  let home: string;
  let reviewed: string;

  before(async () => {
    root = await platformAdmin(served.app);
  });
  beforeEach(async () => {
    merchant = await register(served.app);
    home = merchant.path;
    reviewed = `/v1/admin/organizations/${merchant.organizationId}`;
    await change(legalFields);
    await submit();
  });

  const change = (body: object) =>
    expectStatus(served.app.request("PATCH", home, { token: merchant.token, body }), 200);
  const submit = () =>
    expectStatus(served.app.request("POST", `${home}/kyb/submit`, { token: merchant.token }), 200);
  const read = () => expectStatus(served.app.request("GET", reviewed, { token: root.token }), 200);
  const tagOf = (answer: Answer) => answer.headers.get("ETag") ?? "";
  const decide = (body: object, tag?: string) =>
    served.app.request("POST", `${reviewed}/verification`, {
      token: root.token,
      body,
      headers: tag === undefined ? {} : { "If-Match": tag },
    });

  it("applies once, to the version that was read", async () => {
    const tag = tagOf(await read());
    const answers = await Promise.all([
      decide({ decision: "approve" }, tag),
      decide({ decision: "reject", note: "No such company" }, tag),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 412]);
    const late = answers.find(({ status }) => status === 412);
    if (late !== undefined) expectProblem(late, 412, "precondition_failed");
    const detail = await read();
    expect(detail.body["reviewHistory"]).to.have.length(2);
  });

  it("is refused if the organization changed and was submitted again since it was read", async () => {
    const tag = tagOf(await read());
    await expectStatus(decide({ decision: "request_changes", note: "Full address" }), 200);
    await change({ legalName: "Another company Ltd" });
    await submit();
    expectProblem(await decide({ decision: "approve" }, tag), 412, "precondition_failed");
    const again = await read();
    expect(again.body).to.include({
      verificationStatus: "pending_review",
      legalName: "Another company Ltd",
    });
    await expectStatus(decide({ decision: "approve" }, tagOf(again)), 200);
  });

  it("may omit the version, and one of two decisions still wins", async () => {
    const answers = await Promise.all([
      decide({ decision: "approve" }),
      decide({ decision: "request_changes", note: "Full address" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    for (const wrong of ['"other"', "nonsense"]) {
      expectProblem(await decide({ decision: "approve" }, wrong), 412, "precondition_failed");
    }
  });
});
