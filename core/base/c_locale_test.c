#include "core/base/c_locale.h"

#include "core/base/test.h"

TENON_TEST(entering_nests_and_leaving_restores) {
  const locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
  REQUIRE(own != (locale_t)0);
  const locale_t before = uselocale(own);
  const locale_t first = tenon__c_locale_enter();
  EXPECT(first == own);
  const locale_t inside = uselocale((locale_t)0);
  EXPECT(inside != own);
  const locale_t second = tenon__c_locale_enter();
  EXPECT(second == inside && uselocale((locale_t)0) == inside);
  tenon__c_locale_leave(second);
  EXPECT(uselocale((locale_t)0) == inside);
  tenon__c_locale_leave(first);
  EXPECT(uselocale((locale_t)0) == own);
  (void)uselocale(before);
  freelocale(own);
}
