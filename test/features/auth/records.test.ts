import { expect } from "chai";
import { RegisterRequest } from "../../../src/features/auth/records.ts";

describe("the request of a registration", () => {
  const complete = { email: "ada@example.com", password: "p", name: "Ada" };
  const faultsOf = (request: unknown) =>
    RegisterRequest.safeParse(request).error?.issues.map(({ path }) => path.join("/")) ?? [];

  it("needs an organization's name or an invitation, and names this with all other faults", () => {
    expect(faultsOf({ ...complete, organizationName: "Shop" })).to.deep.equal([]);
    expect(faultsOf({ ...complete, invitationToken: "token" })).to.deep.equal([]);
    expect(faultsOf(complete)).to.deep.equal(["organizationName"]);
    expect(faultsOf({})).to.have.members(["email", "password", "name", "organizationName"]);
    const invitationToken = 7;
    expect(faultsOf({ ...complete, invitationToken })).to.have.members([
      "invitationToken",
      "organizationName",
    ]);
  });

  it("has one fault if it is not an object", () => {
    for (const request of [null, "ada", 7]) expect(faultsOf(request)).to.deep.equal([""]);
  });
});
