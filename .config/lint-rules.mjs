// Rules of this project.

/** Refuses `new Date()`, which reads the machine's clock. */
const noCurrentDate = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.name !== "Date" || node.arguments.length > 0) return;
      context.report({ node, message: "Time is passed in: take a Clock (src/kernel/clock.ts)." });
    },
  }),
};

/** Refuses `{ ...{ name } }`. oxlint's `no-useless-spread` also refuses `...(isGiven ? { name } : {})`. */
const noLiteralSpread = {
  create: (context) => ({
    "ObjectExpression > SpreadElement > ObjectExpression"(node) {
      const message = "Write the properties themselves, without a spread object around them.";
      context.report({ node, message });
    },
  }),
};

/** Refuses what lets a test depend on the speed of the machine: a limit of its own, and the time that has passed. */
const noMeasuredTest = {
  create: (context) => ({
    CallExpression(node) {
      const { object, property } = node.callee;
      if (property?.name !== "timeout" || object.name === "AbortSignal") return;
      const message = "No test has a limit of its own: .mocharc.mjs has the limit of all tests.";
      context.report({ node, message });
    },
    BinaryExpression(node) {
      const { object, property } = node.left.callee ?? {};
      const isClock = object?.name === "performance" || object?.name === "Date";
      if (node.operator !== "-" || !isClock || property.name !== "now") return;
      if (node.right.type !== "Identifier") return;
      const message =
        "The time that passes depends on the machine: wait for a state, count what happened, or take processor time (test/support/cpu-time.ts). Proofs (test/lab) measure time.";
      context.report({ node, message });
    },
  }),
};

export default {
  meta: { name: "till" },
  rules: {
    "no-current-date": noCurrentDate,
    "no-literal-spread": noLiteralSpread,
    "no-measured-test": noMeasuredTest,
  },
};
