import { isAskedLast, isTrust, type NodeRequest, needsOf } from './needs.ts';
import type { Ability } from './node-abilities.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { MissingAbility } from './rpc-failure.ts';

/** The nodes to ask, in this order, and what those that are left out lack. */
export interface AbleNodes {
  readonly endpoints: readonly RpcEndpoint[];
  readonly missing?: Ability | undefined;
}

/**
 * Leaves out the nodes that are known to lack what a request needs. Those that may have some of it are asked last;
 * those that would answer wrongly, only where all would. Whatever is asked, some nodes come after others.
 *
 * @throws MissingAbility when every node is known to lack it
 */
export function ableNodes(given: readonly RpcEndpoint[], request: NodeRequest): AbleNodes {
  const last = given.filter(({ isLast }) => isLast);
  const all = last.length > 0 ? [...given.filter((endpoint) => !last.includes(endpoint)), ...last] : given;
  const needs = needsOf(request);
  if (needs.length === 0) return { endpoints: all };
  const trusted = all.filter((endpoint) => !needs.some((need) => isTrust(need) && endpoint.isLacking(need)));
  const endpoints = trusted.length > 0 ? trusted : all;
  const lacked = endpoints.map((endpoint) => needs.find((need) => endpoint.isLacking(need)));
  const able = endpoints.filter((_, index) => !lacked[index]);
  if (needs.every(isAskedLast)) return { endpoints: [...able, ...endpoints.filter((_, index) => lacked[index])] };
  const missing = lacked.find((need) => need !== undefined)?.ability;
  if (able.length > 0 || missing === undefined) return { endpoints: able, missing };
  throw new MissingAbility(missing, `no node of the chain has what ${request.method} needs: ${missing}`);
}
