// The seed document's sections 2 to 6 and 9, sentence by sentence, through HTTP: in one world for each database and
// credential. Section 4.5's list and the leading sentence of section 5 are walked in catalogue.test.ts.
import { authenticationTests } from "./authentication.ts";
import { checkoutTests, tronTests } from "./checkout.ts";
import { interfaceTests } from "./interface.ts";
import { operationsStatusTests } from "./operations-status.ts";
import { subscriptionTests } from "./subscription.ts";
import { eachWorld } from "./world.ts";

eachWorld("the seed", (world) => {
  interfaceTests(world);
  authenticationTests(world);
  checkoutTests(world);
  subscriptionTests(world);
  // Last, because it starts the background work.
  operationsStatusTests(world);
});

tronTests();
