import { z } from 'zod';
import type { Ability, Need } from './node-abilities.ts';
import { quantity } from './node-answers.ts';

/** A call that a node is asked to make. */
export interface NodeRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly extra?: ExtraNeed | undefined;
}

/** What a request needs that its parameters do not show. */
export interface ExtraNeed {
  readonly ability: Ability;
  /** The parameters of the same request without it: a node that answers this alone lacks the ability. */
  readonly without: readonly unknown[];
}

const LogsOfRange = z.tuple([z.object({ fromBlock: quantity, toBlock: quantity })]);
const StateOfBlock = z.tuple([z.unknown(), quantity]);

/** Nodes that are known to lack one of these are asked after the others: what they lack depends on the request. */
const ASKED_LAST: readonly Ability[] = ['oldState', 'logRange', 'wholeLogs'];

export const isAskedLast = ({ ability }: Need): boolean => ASKED_LAST.includes(ability);

/** Whether a node that lacks this answers as if it had it. */
export const isTrust = ({ ability }: Need): boolean => ability === 'wholeLogs';

const isProgram = (call: unknown): boolean => (call as { readonly to?: unknown }).to === undefined;

const hasOverrides = (tracer: unknown): boolean =>
  (tracer as { stateOverrides?: unknown }).stateOverrides !== undefined;

/** What a request needs of a node besides plain calls. */
export const needsOf = (request: NodeRequest): readonly Need[] =>
  request.extra ? [...shownNeeds(request), { ability: request.extra.ability }] : shownNeeds(request);

function shownNeeds({ method, params }: NodeRequest): readonly Need[] {
  switch (method) {
    case 'eth_call':
      return [
        ...(params.length > 2 ? [{ ability: 'stateOverrides' } as const] : []),
        ...(params.length > 2 && isProgram(params[0]) ? [{ ability: 'programOverrides' } as const] : []),
        ...(params.length > 3 ? [{ ability: 'blockOverrides' } as const] : []),
      ];
    case 'eth_createAccessList':
      return [{ ability: 'accessLists' }];
    case 'debug_traceCall':
      return [{ ability: hasOverrides(params[2]) ? 'liveAccessLists' : 'traces' }];
    case 'eth_getCode': {
      const block = StateOfBlock.safeParse(params).data?.[1];
      return block === undefined ? [] : [{ ability: 'oldState', size: -Number(block) }];
    }
    case 'eth_getLogs': {
      const range = LogsOfRange.safeParse(params).data?.[0];
      const blocks = range ? Number(range.toBlock - range.fromBlock) + 1 : 1;
      return [{ ability: 'wholeLogs' }, ...(blocks > 1 ? [{ ability: 'logRange', size: blocks } as const] : [])];
    }
    default:
      return [];
  }
}
