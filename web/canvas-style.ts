import { useEffect, useState } from 'preact/hooks';

/** What a colour of the style sheet is in the present scheme: a canvas takes no variables. */
export function colorOf(box: Element, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Whether the scheme is dark: a canvas does not follow the style sheet by itself. */
export function useScheme(): boolean {
  const [isDark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setDark(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isDark;
}
