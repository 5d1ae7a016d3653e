/** One time, which is on a whole second, in forms of ISO 8601 that programs and people write. */
export function isoForms(ms: number): string[] {
  const at = (offset = 0) => new Date(ms + offset * 60_000).toISOString().slice(0, -5);
  const basic = (text: string) => text.replaceAll(/[-:]/g, '');
  const day = Math.floor((ms - Date.UTC(new Date(ms).getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
  return [
    `${at()}.000Z`,
    `${at()}Z`,
    `${at()}.000000+00:00`,
    `${at()},0Z`,
    `${at(120)}+02:00`,
    `${at(-570)}-0930`,
    `${at(60)}+01`,
    `${basic(at())}Z`,
    `${basic(at(330))}+0530`,
    `${at().slice(0, 5)}${String(day).padStart(3, '0')}${at().slice(10)}Z`,
  ];
}
