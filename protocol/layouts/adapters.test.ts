import { expect, it } from 'vitest';
import { LAYOUT_ADAPTERS, layoutAdapter } from './adapters.ts';
import { eventLayout, eventLayouts, LAYOUT_NAMES } from './event-layouts.ts';

it('has an adapter and the events of each layout that deployments may use', () => {
  expect(LAYOUT_NAMES).toEqual(expect.arrayContaining(['flat', 'packed']));
  expect(LAYOUT_ADAPTERS.map(({ layout }) => layout).toSorted()).toEqual(LAYOUT_NAMES.toSorted());
  for (const [layout, events] of Object.entries(eventLayouts)) {
    expect(layoutAdapter(layout).layout).toBe(layout);
    expect(eventLayout(layout)).toBe(events);
  }
});

it('names a layout that it does not know', () => {
  expect(() => layoutAdapter('vaulted')).toThrow('vaulted');
  expect(() => eventLayout('vaulted')).toThrow('vaulted');
});
