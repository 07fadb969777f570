describe("a suite", () => {
  it("has a test that fails", () => {
    throw new Error("the test failed");
  });
});
