/** The page's only DOMPurify instance: a second one would need a second Trusted Types policy. */
import createDOMPurify from 'dompurify';

export const purify = createDOMPurify(window);
