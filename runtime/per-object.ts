/** Returns a function that makes a value once per object, and keeps the value as long as the object exists. */
export function perObject<K extends object, V extends object | string>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
