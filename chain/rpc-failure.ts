import { AppError } from '../config/app-error.ts';
import type { Ability } from './node-abilities.ts';

/**
 * Why a node gave no usable answer:
 *
 * - `unreachable`: no connection, an HTTP error, an incomplete answer;
 * - `timeout`: no whole answer in time;
 * - `malformed`: an answer that is not what was asked for;
 * - `wrong_chain`: an answer from another chain;
 * - `refused`: a well-formed JSON-RPC error, such as a block that the node does not know;
 * - `ignored`: an answer without the overrides of state or block that the call needs,
 *   or no node that has what it needs;
 * - `moved`: an answer of another part of the block being built than was asked for;
 * - `paused`: the circuit breaker let no request through;
 * - `aborted`: the caller gave up first;
 * - `exhausted`: the budget of a scheduled read had no call left.
 */
export type RpcFailureCode =
  | 'unreachable'
  | 'timeout'
  | 'malformed'
  | 'wrong_chain'
  | 'refused'
  | 'ignored'
  | 'moved'
  | 'paused'
  | 'aborted'
  | 'exhausted';

/** Faults of the node itself, which open its circuit breaker; a refusal is an answer. */
const NODE_FAULTS: readonly RpcFailureCode[] = ['unreachable', 'timeout', 'malformed', 'wrong_chain'];

/** Codes of JSON-RPC errors of a node that limits requests: that of EIP-1474, and the status of HTTP. */
const LIMIT_CODES: readonly number[] = [-32_005, 429];

/** An error as a node wrote it; its text may hold anything. */
export interface NodeError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A call that no node answered usefully. Its message never holds a URL, since URLs of nodes hold keys. */
export class RpcFailure extends AppError {
  readonly code: RpcFailureCode;
  readonly retryable: boolean;
  /** What the node answered, or what its answer means in JSON-RPC. */
  readonly answer: NodeError | undefined;
  /** Why, for an operator: the status and the words of the node, where it sent any. Keys are hidden. */
  readonly reason: string;

  constructor(code: RpcFailureCode, message: string, answer?: NodeError, reason: string = code) {
    super(message);
    this.code = code;
    this.answer = answer;
    this.reason = reason;
    this.retryable = this.isNodeFault || code === 'paused' || code === 'exhausted';
  }

  get isNodeFault(): boolean {
    return NODE_FAULTS.includes(this.code);
  }

  /** Whether a node that works answered so, which another one that is down does not change. */
  get isAnswer(): boolean {
    return this.code === 'refused' || this.code === 'ignored' || this.code === 'moved';
  }

  /** Whether a node refused any request, not what was asked. */
  get isLimit(): boolean {
    return this.code === 'refused' && LIMIT_CODES.includes(this.answer?.code ?? 0);
  }
}

/** Says that a node, or all that work, do not have what a call needs. */
export class MissingAbility extends RpcFailure {
  readonly ability: Ability;

  constructor(ability: Ability, message: string, code: RpcFailureCode = 'ignored') {
    super(code, message);
    this.ability = ability;
  }
}

/** Whether nodes refused what was asked. */
export const isRefusal = (error: unknown): error is RpcFailure =>
  error instanceof RpcFailure && error.code === 'refused';

/** Whether nodes refused what was asked, not any request. */
export const refusesRequest = (error: unknown): error is RpcFailure => isRefusal(error) && !error.isLimit;

/** Whether a call without overrides may be answered where one with overrides was not. */
export const lacksOverrides = (error: unknown): boolean => isRefusal(error) || error instanceof MissingAbility;

/** Whether nodes refused to read at a block: as a rule it was reorganised away, or is of another chain. */
export const isBlockRefusal = (error: unknown): error is RpcFailure =>
  refusesRequest(error) || (error instanceof RpcFailure && error.code === 'wrong_chain');

/** Whether the read budget had no call left. */
export const isExhaustedBudget = (error: unknown): boolean => error instanceof RpcFailure && error.code === 'exhausted';

/** @throws RpcFailure `wrong_chain` when a node of this chain answered for another one */
export function checkChain(chainId: number, answeredBy: bigint): void {
  if (answeredBy === BigInt(chainId)) return;
  throw new RpcFailure('wrong_chain', `a node of chain ${chainId} answers for chain ${answeredBy}`);
}
