import type { FeatureModule } from "../api/declare/feature-module.ts";
import type { Operation } from "../api/declare/operation.ts";
import { mountPages } from "../api/http.ts";
import type { MountDependencies } from "../api/pipeline/exchange.ts";
import { mountOperations, type Mountable } from "../api/pipeline/mount.ts";
import type { Page } from "../api/page.ts";
import { features } from "../features/index.ts";
import type { App } from "../app.ts";
import type { Services } from "./services.ts";

/** The app and the services, which modules receive. */
export type Wired = Services & App;

/** The modules of all features. This does not compile if a module needs a service that Services lacks. */
export const modules: readonly FeatureModule<Wired>[] = features;

/** Returns the operations and pages of each feature, ready to be mounted on a router of its own. */
export function mountModules(wired: Wired, deps: MountDependencies): Mountable[] {
  return modules.map(({ operations = {}, pages = {} }) => (router) => {
    for (const name of namesOf(operations)) mountService(operations, name)(router);
    for (const name of namesOf(pages)) mountServicePages(pages, name)(router);
  });

  function mountService<Name extends keyof Wired>(
    operations: { readonly [N in Name]?: readonly Operation<Wired[N]>[] },
    name: Name,
  ): Mountable {
    return mountOperations(operations[name] ?? [], wired[name], deps);
  }

  function mountServicePages<Name extends keyof Wired>(
    pages: { readonly [N in Name]?: readonly Page<Wired[N]>[] },
    name: Name,
  ): Mountable {
    return mountPages(pages[name] ?? [], wired[name], deps.rateLimiter);
  }
}

function namesOf(byName: { readonly [Name in keyof Wired]?: unknown }): (keyof Wired)[] {
  return Object.keys(byName) as (keyof Wired)[];
}
