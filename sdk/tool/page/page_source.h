/* page.html as an array that ends with NUL: the build makes the source of it (embed.cmake). */
#ifndef TOOL_PAGE_PAGE_SOURCE_H_
#define TOOL_PAGE_PAGE_SOURCE_H_

extern const unsigned char tool_page_source[];

#endif
