/** A masked phone number or e-mail address in a text (`•••12`, `a***@e***.com`), or undefined. */
export function maskedDestination(text: string): string | undefined {
  const email = /[\p{L}\p{N}._%+-]*[*•●∙·…xX.]{2,}[\p{L}\p{N}._%+*•●∙·…-]*@[\p{L}\p{N}*•●∙·….-]+/u.exec(text)?.[0];
  if (email) return email.replace(/[.,;:]+$/, '');
  const phone = /\+?[\d() -]*[*•●∙·…✱⁕xX]{2,}[\d*•●∙·…✱⁕xX() -]*\d{2,4}(?!\d)/u.exec(text)?.[0];
  if (phone) return phone.trim();
  const plain = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+\.[\p{L}\p{N}.-]+\p{L}/u.exec(text)?.[0];
  if (plain) return plain;
  return /(?:ending(?: in| with)?|endet auf|endende? (?:mit|auf)|se terminant par|terminad[oa] en|termina con|eindigend op|末尾|尾号)\s*[:：]?\s*(\d{2,4})/iu.exec(
    text,
  )?.[0];
}

/** A text without what may tell of a person: addresses of mail, and numbers of four digits or more. */
export function withoutPersonal(text: string): string {
  return text.replace(/[^\s"]+@[^\s"]+/g, '…@…').replace(/\d[\d ().-]{2,}\d/g, '…');
}
