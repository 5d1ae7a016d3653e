/** Files that are let go where nothing takes them. */

/** Otherwise the browser opens such a file in place of the page, which ends uploads and loses what is shown only once. */
export function refuseDrops(): void {
  for (const type of ['dragover', 'drop'] as const)
    document.addEventListener(type, (event) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    });
}
