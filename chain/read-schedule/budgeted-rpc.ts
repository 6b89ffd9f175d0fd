import { pause } from '../../runtime/pause.ts';
import { ChainRpc, type ReportedHead } from '../chain-rpc.ts';
import type { CheckedRequest } from '../checked-request.ts';
import { RpcFailure } from '../rpc-failure.ts';
import type { CallBudget, ReadClass } from './call-budget.ts';

const POLL_MS = 100;

/** Nodes for scheduled work of a class: each request waits until the budget has a call for it, or its signal aborts. */
export class BudgetedRpc extends ChainRpc {
  readonly #budget: CallBudget;
  readonly #kind: ReadClass;

  constructor({ endpoints }: ChainRpc, budget: CallBudget, kind: ReadClass) {
    super(endpoints);
    this.#budget = budget;
    this.#kind = kind;
  }

  override async head(signal?: AbortSignal): Promise<ReportedHead> {
    await this.#admit(signal);
    return super.head(signal);
  }

  protected override async ask<T>(request: CheckedRequest<T>): Promise<T> {
    await this.#admit(request.signal);
    return super.ask(request);
  }

  async #admit(signal: AbortSignal | undefined): Promise<void> {
    while (!this.#budget.reserve(this.#kind)) {
      await pause(POLL_MS, signal);
      if (signal?.aborted) throw new RpcFailure('aborted', 'the caller gave up before the read budget had a call');
    }
  }
}
