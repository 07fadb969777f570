import { expect } from "chai";
import { lateWindowDays } from "../../../../src/features/organizations/rules.ts";
import { anyServed, expectStatus, register, type Person } from "../../../support/app.ts";
import { expectProblem, pointersOf } from "../../../http/problem.ts";

anyServed("the payment policy of an organization", (served) => {
  let person: Person;
  before(async () => {
    person = await register(served.app);
  });

  const ask = (method: string, body?: object, headers: Record<string, string> = {}) =>
    served.app.request(method, `${person.path}/payment-policy`, {
      token: person.token,
      ...(body === undefined ? {} : { body }),
      headers,
    });
  const set = async (body: object) => (await expectStatus(ask("PATCH", body), 200)).body;
  const option = (tokenSymbol: string, network = "sandbox") => ({ network, tokenSymbol });
  const { least, most } = lateWindowDays;

  it("changes only what is given, and is audited once for each change", async () => {
    const read = await expectStatus(ask("GET"), 200);
    const before = read.body;
    expect(await set({})).to.deep.equal(before);
    const options = [option("USDT"), option("USDC")];
    const offered = await set({ paymentOptions: options });
    const shown = offered["paymentOptions"] as readonly Record<string, unknown>[];
    expect(shown.map(({ network, tokenSymbol }) => ({ network, tokenSymbol }))).to.deep.equal(
      options,
    );
    expect(await set({ lateWindowDays: least })).to.deep.include({
      lateWindowDays: least,
      latePayments: before["latePayments"],
      paymentOptions: shown,
    });
    expect(await set({ lateWindowDays: most, paymentOptions: options })).to.include({
      lateWindowDays: most,
    });
    const headers = { "If-Match": read.headers.get("ETag") ?? "" };
    const late = await ask("PATCH", { lateWindowDays: least }, headers);
    expectProblem(late, 412, "precondition_failed");
    expect(await set({ paymentOptions: null })).to.include({ paymentOptions: null });
    const entries = await served.app.app.db.all(
      "SELECT id FROM audit_logs WHERE organization_id = $1 AND action = 'organization.payment_policy_updated'",
      [person.organizationId],
    );
    expect(entries).to.have.length(4);
  });

  it("refuses networks and tokens that are not enabled, options given twice, and windows out of range", async () => {
    for (const [body, pointer] of [
      [{ paymentOptions: [option("USDT"), option("USDT", "tron")] }, "/paymentOptions/1/network"],
      [{ paymentOptions: [option("USDT"), option("XYZ")] }, "/paymentOptions/1/tokenSymbol"],
      [{ paymentOptions: [option("USDT"), option("USDT")] }, "/paymentOptions/1"],
      [{ lateWindowDays: least - 1 }, "/lateWindowDays"],
      [{ lateWindowDays: most + 1 }, "/lateWindowDays"],
    ] as const) {
      const refused = await ask("PATCH", body);
      expectProblem(refused, 400, "invalid_request");
      expect(pointersOf(refused)).to.deep.equal([pointer]);
    }
  });
});
