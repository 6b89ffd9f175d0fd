import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { ContractCall } from '../../chain/multicall.ts';
import { allowlistFunctions } from '../../protocol/abi/allowlists.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { GuardRole } from '../../protocol/layout.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { decoded } from './decoded.ts';
import type { AuditedExtension } from './extensions.ts';
import type { FactName } from './facts.ts';

/** Upper estimates of gas: of a flag of an allowlist, of a guard's getter. */
const GAS = { flag: 10_000, guard: 20_000 };

/** A standard extension of a pool that is asked for the pool's settings. */
export interface ReadExtension extends AuditedExtension {
  readonly address: Address;
  /** Those about which an allowlist is asked. */
  readonly accounts: readonly Address[];
}

/** Functions of an allowlist: whether a pool allows all accounts, and whether it allows one. */
const ALLOWLIST = {
  depositAllowlist: { all: 'allowAllDepositors', account: 'allowedDepositor' },
  swapAllowlist: { all: 'allowAllSwappers', account: 'allowedSwapper' },
} as const;

/** An upper estimate of the gas of the calls to an extension. */
export const extensionGas = ({ role, accounts }: ReadExtension): number =>
  isGuard(role) ? GAS.guard : (1 + accounts.length) * GAS.flag;

/** The calls to an extension; {@link factsOfExtensions} takes their results. */
export function extensionCalls(pool: Address, extension: ReadExtension): ContractCall[] {
  const { address: target, accounts, role, layout } = extension;
  if (isGuard(role)) return [{ target, data: layoutAdapter(layout).guardSettings[role].call(pool), gas: GAS.guard }];
  const { all, account } = ALLOWLIST[role];
  return [
    encodeFunctionData({ abi: allowlistFunctions, functionName: all, args: [pool] }),
    ...accounts.map((each) =>
      encodeFunctionData({ abi: allowlistFunctions, functionName: account, args: [pool, each] }),
    ),
  ].map((data) => ({ target, data, gas: GAS.flag }));
}

/** Nothing of kinds of extensions that the pool does not have, and no fact of which a call gave no answer. */
export function factsOfExtensions(
  extensions: readonly ReadExtension[],
  results: readonly CallResult[],
): { readonly [Name in FactName]?: string | undefined } {
  const found = new Map<FactName, (string | undefined)[]>();
  const add = (name: FactName, values: readonly (string | undefined)[]) =>
    found.set(name, [...(found.get(name) ?? []), ...values]);
  let next = 0;
  for (const { role, layout, accounts } of extensions) {
    const [first, ...others] = results.slice(next, next + 1 + accounts.length);
    next += 1 + accounts.length;
    if (isGuard(role)) {
      const { decode } = layoutAdapter(layout).guardSettings[role];
      add(GUARD_FACTS[role], [decoded(first, (data) => decode(data).join(' '))]);
    } else {
      add('allowAll', [readFlag(first)]);
      add(
        'allowedAccounts',
        accounts.map((_, place) => readFlag(others[place])),
      );
    }
  }
  const joined = (values: readonly (string | undefined)[]) => (values.includes(undefined) ? undefined : values.join());
  return Object.fromEntries([...found].map(([name, values]) => [name, joined(values)]));
}

const GUARD_FACTS = { stopLoss: 'stopLossSettings', priceVelocityGuard: 'velocityLimits' } as const;

const isGuard = (role: AuditedExtension['role']): role is GuardRole => role in GUARD_FACTS;

const readFlag = (result: CallResult | undefined): string | undefined =>
  decoded(result, (data) =>
    String(Number(decodeFunctionResult({ abi: allowlistFunctions, functionName: 'allowAllSwappers', data }))),
  );
