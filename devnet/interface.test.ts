import { type AbiEvent, type AbiParameter, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { allowlistFunctions } from '../protocol/abi/allowlists.ts';
import {
  anchoredProviderFactoryEvents,
  regularL2ProviderFactoryEvents,
  regularProviderFactoryEvents,
} from '../protocol/abi/providers.ts';
import { v0FactoryEvents, v0PoolEvents } from '../protocol/abi/v0.ts';
import { depositAllowlistEvents, swapAllowlistEvents } from '../protocol/layouts/extension-events.ts';
import { flatPoolEvents } from '../protocol/layouts/flat/pool-abi.ts';
import * as devnetAbi from './abi.ts';
import { type ContractName, loadArtifact } from './artifacts.ts';
import { factoryAbi, flatPoolAbi, priceVelocityGuardAbi, providerAbi, stopLossAbi } from './protocol-abi.ts';

/** An item as what matters on the wire: names and types of arguments, which are indexed, types of results. */
function signature(item: {
  type: string;
  name?: string;
  inputs?: readonly AbiParameter[];
  outputs?: readonly AbiParameter[];
}) {
  const inputs = (item.inputs ?? []).map(
    (input) => `${typeOf(input)}${'indexed' in input && input.indexed ? ' indexed' : ''}`,
  );
  const outputs = (item.outputs ?? []).map(typeOf);
  return `${item.type} ${item.name}(${inputs.join(',')})${item.type === 'function' ? `(${outputs.join(',')})` : ''}`;
}

function typeOf(parameter: AbiParameter): string {
  if (!('components' in parameter)) return parameter.type;
  return parameter.type.replace('tuple', `(${parameter.components.map(typeOf).join(',')})`);
}

function compiled(...names: readonly ContractName[]): Set<string> {
  return new Set(names.flatMap((name) => loadArtifact(name).abi.map((item) => signature(item as never))));
}

describe('compiled contracts have every item of', () => {
  test.each([
    // The swap allowlist is an extension: its refusal reaches the trader as the pool's own.
    ['the pool', ['Pool', 'SwapAllowlist'], flatPoolAbi],
    ['the factory', ['PoolFactory'], factoryAbi],
    ['the stop loss', ['StopLoss'], stopLossAbi],
    ['the velocity guard', ['PriceVelocityGuard'], priceVelocityGuardAbi],
    ['the deposit allowlist', ['DepositAllowlist'], depositAllowlistEvents],
    ['the swap allowlist', ['SwapAllowlist'], swapAllowlistEvents],
    ['the anchored factory', ['AnchoredProviderFactory'], anchoredProviderFactoryEvents],
    ['the regular factory', ['RegularProviderFactory'], regularProviderFactoryEvents],
    ['the regular factory for L2 chains', ['RegularL2ProviderFactory'], regularL2ProviderFactoryEvents],
    ['the providers', ['AnchoredProvider', 'RegularProvider'], providerAbi],
    ['the router', ['SwapRouter'], devnetAbi.routerAbi],
    ['the quoter', ['SwapQuoter'], devnetAbi.quoterAbi],
    ['the liquidity adder', ['LiquidityAdder'], devnetAbi.liquidityAdderAbi],
    ['tokens', ['Token'], devnetAbi.tokenAbi],
    ['the oracle', ['Oracle'], devnetAbi.oracleAbi],
    ["the factory owner's calls", ['PoolFactory'], devnetAbi.factoryOwnerAbi],
    ["the anchored factory's calls", ['AnchoredProviderFactory'], devnetAbi.anchoredFactoryAbi],
    ["the regular factory's calls", ['RegularProviderFactory'], devnetAbi.regularFactoryAbi],
    ["the L2 factory's calls", ['RegularL2ProviderFactory'], devnetAbi.regularL2FactoryAbi],
    ["the stop loss's settings", ['StopLoss'], devnetAbi.stopLossAdminAbi],
    ["the velocity guard's settings", ['PriceVelocityGuard'], devnetAbi.velocityAdminAbi],
    ['the allowlists', ['DepositAllowlist', 'SwapAllowlist'], [...devnetAbi.allowlistAdminAbi, ...allowlistFunctions]],
    ['the manual provider', ['ManualProvider'], devnetAbi.manualProviderAbi],
  ] as const)('%s', (_, names, abi) => {
    const present = compiled(...names);
    const missing = abi.map((item) => signature(item)).filter((item) => !present.has(item));
    expect(missing).toEqual([]);
  });
});

describe('topics that the world knows', () => {
  const topicOf = (abi: readonly unknown[], name: string) =>
    toEventSelector((abi as readonly AbiEvent[]).find((item) => item.name === name) as AbiEvent);

  test('Swap and PoolCreated', () => {
    const swap = '0x87d25816ca01843f551b4caa5eea03b5173c84c383573c63081fb7575378276e';
    const created = '0x4b36a0ddce54edb36597ee7d496df06c53fe875aba9d7257534a38d5177899aa';
    expect(topicOf(loadArtifact('Pool').abi, 'Swap')).toBe(swap);
    expect(topicOf(flatPoolEvents, 'Swap')).toBe(swap);
    expect(topicOf(loadArtifact('PoolFactory').abi, 'PoolCreated')).toBe(created);
  });

  test('those of the oldest generation', () => {
    expect(topicOf(v0PoolEvents, 'Swap')).toBe('0xcd8b75a7fb6cb82ab3acded68ac53af5c43d19b51a91b9d5640bb73622dbdf57');
    const created = '0xe1c304acd9cda85cdced26da15edf3fd1a07d96caf4f9cedb068823618b93d4d';
    expect(topicOf(v0FactoryEvents, 'PoolCreated')).toBe(created);
  });
});

/** A chain takes no larger contract (EIP-170). */
const LARGEST_CONTRACT_BYTES = 24_576;

test.each(['Pool', 'PoolDeployer', 'PoolFactory', 'StopLoss'] as const)('%s fits on a chain', (name) => {
  expect(loadArtifact(name).deployedBytecode.length / 2 - 1).toBeLessThanOrEqual(LARGEST_CONTRACT_BYTES);
});
