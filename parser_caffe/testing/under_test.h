/* This parser and its converters, as tests/support/fake.h takes them. */
#ifndef TENON_PARSER_CAFFE_TESTING_UNDER_TEST_H_
#define TENON_PARSER_CAFFE_TESTING_UNDER_TEST_H_

#include "converters/families.h"
#include "parser.h"
#include "tests/support/fake.h"

static const tenon_offering_t* const families[] = {
    TENON__CAFFE_FAMILIES(TENON__CAFFE_FAMILY_ENTRY)};

static const tenon__fake_parser_t under_test = {"caffe", tenon__caffe_parser_parse, families,
                                                sizeof(families) / sizeof(families[0])};

#endif
