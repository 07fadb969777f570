import type { App } from "../../app.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { figuresWorker } from "./roll-up.ts";

export const usageModule: FeatureModule<{ readonly app: App }> = {
  workers: (app) => [figuresWorker(app)],
};
