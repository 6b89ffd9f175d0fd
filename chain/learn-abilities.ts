import { nodeHas, type ProbedAbility } from './ability-probes.ts';
import { type NodeRequest, needsOf } from './needs.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { isRefusal, MissingAbility, RpcFailure } from './rpc-failure.ts';

/** Code of the error of a call that a contract reverted. */
const REVERTED = 3;

/** Notes what a failed request shows of a node. */
export function learnFrom(endpoint: RpcEndpoint, request: NodeRequest, error: unknown): void {
  if (!(error instanceof RpcFailure)) return;
  if (error instanceof MissingAbility) {
    endpoint.learn(error, false);
    return;
  }
  // It says nothing of what was asked.
  if (error.isLimit || error.code === 'aborted') return;
  const isRefused = isRefusal(error) && error.answer?.code !== REVERTED;
  for (const need of needsOf(request)) {
    switch (need.ability) {
      case 'accessLists':
      case 'liveAccessLists':
        // A proxy before the node may keep the method from us in any way.
        endpoint.learn(need, false);
        break;
      case 'oldState':
      case 'logRange':
        if (isRefused) endpoint.learn(need, false);
        break;
      case 'stateOverrides':
      case 'blockOverrides':
        // The refusal may say something of the block, or of what the call runs.
        if (isRefused) startProbe(endpoint, need.ability);
        break;
    }
  }
}

/** Probes a node for later requests, unless something is known of it or a probe began within the time that holds. */
function startProbe(endpoint: RpcEndpoint, ability: ProbedAbility): void {
  if (endpoint.has(ability) === undefined) nodeHas(endpoint, ability).catch(() => undefined);
}
