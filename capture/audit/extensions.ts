import type { Address } from 'viem';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { EXTENSION_ROLES, type ExtensionRole } from '../../protocol/layouts/contract-roles.ts';

/** A standard extension whose settings are compared. */
export interface AuditedExtension {
  readonly role: ExtensionRole;
  /** Of the deployment that names it. */
  readonly layout: string;
}

/** Standard extensions of enabled deployments. */
export const extensionsOf = (deployments: readonly DeploymentConfig[]): ReadonlyMap<Address, AuditedExtension> =>
  new Map(
    deployments
      .filter(({ enabled }) => enabled)
      .flatMap((deployment) =>
        EXTENSION_ROLES.flatMap((role) => {
          const address = deployment[role];
          return address === undefined ? [] : [[address, { role, layout: deployment.layout }] as const];
        }),
      ),
  );
